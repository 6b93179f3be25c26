"""What both engines' workers need to run alone: groups of processes of which only one is there, and a model without weights."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from typing import Any

from .processes import Reached
from .unknown import unknown


def fitting(function: Any, words: dict[str, Any]) -> dict[str, Any]:
    """Those of ``words`` that are parameters of ``function``."""
    known = inspect.signature(function).parameters
    return {name: value for name, value in words.items() if name in known}


def nobody(*_args: Any, **_kwargs: Any) -> None:
    """Nobody is there to talk to."""


def stop_before_weights(modules: list[Any], names: tuple[str, ...]) -> None:
    """End the dry run once a function of one of these ``names`` has built the model."""
    for module in modules:
        for name in names:
            if name in vars(module):
                setattr(module, name, _built(vars(module)[name]))


def _built(ordinary: Any) -> Any:
    def build(*args: Any, **kwargs: Any) -> Any:
        raise Reached("the model's weights", model=ordinary(*args, **kwargs))

    return build


def as_if_loaded(worker: Any, later: tuple[str, ...]) -> None:
    """Let what a ``worker`` has once its weights and cache are there be unknown: they never are.

    That is what the methods of its class set whose names begin with one of ``later``. An attribute that has been set to
    something stays as it is.
    """
    for name in _set_in(type(worker), later):
        if getattr(worker, name, None) is None:
            try:
                setattr(worker, name, unknown(f"{type(worker).__name__}().{name}"))
            except AttributeError:  # a property
                continue


def _set_in(kind: type, methods: tuple[str, ...]) -> list[str]:
    """Attributes of ``self`` that these methods of a class set, as its source says."""
    source = textwrap.dedent(inspect.getsource(kind))
    found: dict[str, None] = {}
    for method in ast.walk(ast.parse(source)):
        if not isinstance(method, ast.FunctionDef) or not method.name.startswith(methods):
            continue
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
                found |= {node.attr: None} if node.value.id == "self" else {}
    return list(found)


def alone(parallel_state: Any) -> None:
    """Groups of processes have members, but nobody answers: a group keeps who belongs to it, and opens no channels.

    ``parallel_state`` is the engine's module with the class GroupCoordinator, which both engines have from one source.
    """
    kind = parallel_state.GroupCoordinator
    words = list(inspect.signature(kind.__init__).parameters)[1:]

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        torch: Any = importlib.import_module("torch")
        given = {**dict(zip(words, args, strict=False)), **kwargs}
        for name, value in given.items():
            if not hasattr(self, name):
                setattr(self, name, value)
        self.unique_name = f"{given.get('group_name') or 'anonymous'}:0"
        self.rank, self.local_rank = torch.distributed.get_rank(), given["local_rank"]
        self.device_index, self.group_ranks = self.local_rank, given["group_ranks"]
        self.ranks = next((ranks for ranks in self.group_ranks if self.rank in ranks), [self.rank])
        self.world_size, self.rank_in_group = len(self.ranks), self.ranks.index(self.rank)
        self.device, self.device_module = torch.device("cuda", self.local_rank), torch.cuda
        self.cpu_group = self.device_group = torch.distributed.new_group(self.ranks)
        for name in (*words, "use_custom_op_call", "use_cpu_custom_send_recv"):
            if name.startswith("use_"):
                setattr(self, name, False)
        for name in inspect.get_annotations(kind):  # communicators, which are not opened
            if name not in vars(self):
                setattr(self, name, None)
        for name in (
            "device_communicator",
            "mq_broadcaster",
            "pynccl_comm",
            "ca_comm",
            "qr_comm",
            "torch_symm_mem_comm",
        ):
            setattr(self, name, None)

    kind.__init__ = start
    kind.barrier = nobody
