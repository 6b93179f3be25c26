"""What both engines' workers need to run alone: groups of processes of which only one is there, and a model without weights."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from .processes import Reached


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
        ordinary(*args, **kwargs)
        raise Reached("the model's weights")

    return build


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
