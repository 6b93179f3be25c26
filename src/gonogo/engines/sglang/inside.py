"""SGLang inside the child: where its configuration is settled, and on what. Imports SGLang only when asked to."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

from gonogo_inside.processes import Reached  # type: ignore[import-not-found]


def prepare(progress: Any) -> None:
    """Put the edge of the dry run in place: the settled and checked arguments.

    The server checks them right after they are settled, behind the import of all that serves; those checks are called
    here without that import.
    """
    made = importlib.import_module("sglang.srt.server_args").ServerArgs
    settle = made.resolve_once if hasattr(made, "resolve_once") else None
    check = made.check_server_args

    def resolve_once(self: Any, *args: Any, **kwargs: Any) -> Any:
        assert settle is not None
        if progress.stage == "backends":
            return settle(self, *args, **kwargs)
        progress.enter("configuration")
        settle(self, *args, **kwargs)
        check(self)
        raise Reached("the configuration", self)

    def check_server_args(self: Any, *args: Any, **kwargs: Any) -> Any:
        if progress.stage == "backends":
            return check(self, *args, **kwargs)
        progress.enter("configuration")
        check(self, *args, **kwargs)
        raise Reached("the configuration", self)

    if settle is not None:
        made.resolve_once = resolve_once
    else:
        made.check_server_args = check_server_args


def backends(config: Any, _progress: Any) -> None:
    """What the first scheduler process does before it reads weights: its device, its groups, the model's layers.

    The engine's own process function runs, up to the moment when the model is built. Other processes are there by name only.
    """
    scheduler: Any = importlib.import_module("sglang.srt.managers.scheduler")
    _alone(importlib.import_module("sglang.srt.distributed.parallel_state"))
    importlib.import_module("sglang.srt.model_loader.loader")
    for module in [each for name, each in sys.modules.items() if name.startswith("sglang.srt.model_loader")]:
        if "_initialize_model" in vars(module):
            module._initialize_model = _built(module._initialize_model)  # type: ignore[attr-defined]
    # It would log what went wrong and end its parent process.
    scheduler.get_exception_traceback = _raise_again
    for module in [each for name, each in sys.modules.items() if name.startswith("sglang.srt")]:
        for name in ("get_zmq_socket", "get_zmq_socket_on_host", "kill_itself_when_parent_died"):
            if name in vars(module):
                setattr(module, name, _nobody)
    importlib.import_module("faulthandler").enable = _nobody
    words = {
        "server_args": config,
        "port_args": _Ports(),
        "gpu_id": config.base_gpu_id,
        "tp_rank": 0,
        "pp_rank": 0,
        "moe_ep_rank": 0,
        "attn_cp_rank": 0,
        "moe_dp_rank": 0,
        "dp_rank": None,
        "pipe_writer": _nobody,
        "writer": _nobody,
    }
    known = inspect.signature(scheduler.run_scheduler_process).parameters
    scheduler.run_scheduler_process(**{name: value for name, value in words.items() if name in known})


class _Ports:
    """Addresses of sockets that are never opened."""

    nccl_port = 29500

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"ipc:///tmp/{name}"


def _nobody(*_args: Any, **_kwargs: Any) -> None:
    """Nobody is there to talk to."""


def _raise_again() -> Any:
    error = sys.exc_info()[1]
    assert error is not None
    raise error


def _built(ordinary: Any) -> Any:
    def initialize_model(*args: Any, **kwargs: Any) -> Any:
        ordinary(*args, **kwargs)
        raise Reached("the model's weights")

    return initialize_model


def _alone(parallel_state: Any) -> None:
    """Groups of processes have members, but nobody answers: a group keeps who belongs to it, and opens no channels."""
    torch_distributed: Any = importlib.import_module("torch.distributed")
    ordinary = parallel_state.GroupCoordinator.__init__
    words = list(inspect.signature(ordinary).parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(words[1:], args, strict=False)), **kwargs}
        group_ranks, local_rank = given["group_ranks"], given["local_rank"]
        self.unique_name = f"{given.get('group_name') or 'anonymous'}:0"
        self.rank, self.local_rank = torch_distributed.get_rank(), local_rank
        self.ranks = next((ranks for ranks in group_ranks if self.rank in ranks), [self.rank])
        self.world_size, self.rank_in_group = len(self.ranks), self.ranks.index(self.rank)
        self.device = importlib.import_module("torch").device("cuda", local_rank)
        self.device_module = importlib.import_module("torch").cuda
        self.cpu_group = self.device_group = torch_distributed.new_group(self.ranks)
        for name in words:
            if name.startswith("use_"):
                setattr(self, name, False)
        for name in ("pynccl_comm", "ca_comm", "qr_comm", "mq_broadcaster", "pymscclpp_comm", "torch_symm_mem_comm"):
            setattr(self, name, None)

    parallel_state.GroupCoordinator.__init__ = __init__
    parallel_state.GroupCoordinator.barrier = lambda self: None


def call(target: str, positional: list[Any], arguments: dict[str, Any]) -> None:
    """A Python launch: ``Engine(...)`` or ``ServerArgs(...)``."""
    made = importlib.import_module("sglang.srt.server_args").ServerArgs
    if target == "ServerArgs":
        settled = made(*positional, **arguments)
        settled.resolve_once() if hasattr(made, "resolve_once") else settled.check_server_args()
        return
    importlib.import_module("sglang.srt.entrypoints.engine").Engine(*positional, **arguments)


def resolved(config: Any) -> dict[str, Any]:
    """The resolved arguments, simple values only."""
    values = config.resolved_dict() if hasattr(config, "resolved_dict") else dict(vars(config))
    return {
        name: str(value)
        for name, value in values.items()
        if len(str(value)) <= 2000 and " object at 0x" not in str(value)
    }
