"""SGLang inside the child: where its configuration is settled, and on what. Imports SGLang only when asked to."""

from __future__ import annotations

import faulthandler
import importlib
import sys
from typing import Any

from gonogo_inside.processes import Reached  # type: ignore[import-not-found]
from gonogo_inside.unknown import unknown  # type: ignore[import-not-found]
from gonogo_inside.workers import alone, as_if_loaded, fitting, nobody, stop_before_weights  # type: ignore[import-not-found]


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
    alone(importlib.import_module("sglang.srt.distributed.parallel_state"))
    importlib.import_module("sglang.srt.model_loader.loader")
    loaders = [each for name, each in sys.modules.items() if name.startswith("sglang.srt.model_loader")]
    stop_before_weights(loaders, ("_initialize_model",))
    runner: Any = importlib.import_module("sglang.srt.model_executor.model_runner").ModelRunner
    runner.load_model = _then_attention(runner.load_model)
    # It would log what went wrong and end its parent process.
    scheduler.get_exception_traceback = _raise_again
    for module in [each for name, each in sys.modules.items() if name.startswith("sglang.srt")]:
        for name in ("get_zmq_socket", "get_zmq_socket_on_host", "kill_itself_when_parent_died"):
            if name in vars(module):
                setattr(module, name, nobody)
    faulthandler.enable = nobody
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
        "pipe_writer": nobody,
        "writer": nobody,
    }
    scheduler.run_scheduler_process(**fitting(scheduler.run_scheduler_process, words))


_ATTENTION = "sglang.srt.layers.attention.attention_registry"
_REFUSALS = (ValueError, AssertionError, NotImplementedError, RuntimeError)


def _then_attention(ordinary: Any) -> Any:
    """Once the model is built, its attention backends are chosen: what forbids them stands behind the weights and the cache."""

    def load_model(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return ordinary(self, *args, **kwargs)
        except Reached as edge:
            reached = edge
        self.model = reached.model
        _choose_attention(self)
        raise reached

    return load_model


def _choose_attention(runner: Any) -> None:
    """The engine's own choice, with backends that are never made. Only what the choice itself refuses is heard."""
    registry = sys.modules.get(_ATTENTION)
    chooses = next(
        (name for name in ("init_attention_backends", "init_attention_backend") if hasattr(runner, name)), None
    )
    if registry is None or chooses is None:
        return
    as_if_loaded(runner, ("load_model", "init_", "alloc_", "configure_", "maybe_"))
    for name, make in list(registry.ATTENTION_BACKENDS.items()):
        registry.ATTENTION_BACKENDS[name] = _choosing(make)
    try:
        getattr(runner, chooses)()
    except _REFUSALS as error:
        if _born_in(error) == registry.__file__:
            raise
    except Exception:
        return  # without weights and a cache there is no more to be learned


def _choosing(make: Any) -> Any:
    def choose(runner: Any) -> Any:
        try:
            return make(runner)
        except _REFUSALS as error:
            if _born_in(error) == sys.modules[_ATTENTION].__file__:
                raise
        except Exception:
            return unknown("AttentionBackend()")
        return unknown("AttentionBackend()")

    return choose


def _born_in(error: BaseException) -> str | None:
    """The file of the innermost frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename if trace is not None else None


class _Ports:
    """Addresses of sockets that are never opened."""

    nccl_port = 29500

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"ipc:///tmp/{name}"


def _raise_again() -> Any:
    error = sys.exc_info()[1]
    assert error is not None
    raise error


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
