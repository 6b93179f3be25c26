"""torch.distributed for one process that pretends to be of many: groups have members, nothing is ever sent."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from .faketensors import KnownTensor
from .unknown import Unknown, as_the_real_one


class ProcessGroup:
    """torch.distributed.ProcessGroup: the ranks of its members."""

    __module__ = "torch.distributed"

    def __init__(self, ranks: Sequence[int], mine: int, backend: Any) -> None:
        self.ranks, self.mine, self.backend = list(ranks), mine, backend
        self.group_name = f"group-{id(self)}"

    def size(self) -> int:
        """How many members it has."""
        return len(self.ranks)

    def rank(self) -> int:
        """The place of this process in it; -1: it is no member."""
        return self.ranks.index(self.mine) if self.mine in self.ranks else -1

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"torch.distributed.ProcessGroup().{name}")


class World:
    """The process group of all processes, once there is one."""

    group: ProcessGroup | None = None


def initialize(
    backend: Any = None,
    init_method: Any = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    *_a: Any,
    **_k: Any,
) -> None:
    """torch.distributed.init_process_group."""
    World.group = ProcessGroup(range(world_size), rank, backend)


def _world() -> ProcessGroup:
    if World.group is None:
        told = "Default process group has not been initialized, please make sure to call init_process_group."
        raise as_the_real_one(ValueError(told))
    return World.group


def new_group(
    ranks: Any = None, timeout: Any = None, backend: Any = None, *_args: Any, **_options: Any
) -> ProcessGroup:
    """torch.distributed.new_group."""
    whole = _world()
    return ProcessGroup(whole.ranks if ranks is None else ranks, whole.mine, backend or whole.backend)


def get_world_size(group: Any = None) -> Any:
    """torch.distributed.get_world_size."""
    return (group or _world()).size()


def get_rank(group: Any = None) -> Any:
    """torch.distributed.get_rank."""
    return (group or _world()).rank()


def get_process_group_ranks(group: Any = None) -> Any:
    """torch.distributed.get_process_group_ranks."""
    return list((group or _world()).ranks)


def get_backend(group: Any = None) -> Any:
    """torch.distributed.get_backend."""
    return (group or _world()).backend


def all_gather_object(found: list[Any], mine: Any, *_args: Any, **_options: Any) -> None:
    """torch.distributed.all_gather_object among processes that all say the same."""
    found[:] = [mine] * len(found)


class ReduceOp(enum.IntEnum):
    """torch.distributed.ReduceOp: what a group does with the tensors of its members."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


_OF_EQUALS = (ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.BAND, ReduceOp.BOR)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, *_args: Any, **_options: Any) -> None:
    """torch.distributed.all_reduce among processes that all have the same tensor: most operations leave it as it is."""
    alone = isinstance(group or World.group, ProcessGroup) and (group or _world()).size() == 1
    if isinstance(tensor, KnownTensor) and op not in _OF_EQUALS and not alone:
        tensor.__class__ = KnownTensor  # its numbers are not known any more


def nothing(*_args: Any, **_options: Any) -> None:
    """A collective call: this process's own tensor is its answer."""


def describe(some: bool) -> Any:
    """Fill torch.distributed; ``some``: there are GPUs."""

    def fill(m: Any) -> None:
        m.ProcessGroup = ProcessGroup
        m.is_available = m.is_gloo_available = lambda: True
        m.is_initialized = lambda: World.group is not None
        m.is_nccl_available = lambda: some
        m.is_backend_available = lambda backend: backend in ("gloo", *(("nccl",) if some else ()))
        m.is_mpi_available = m.is_ucc_available = m.is_xccl_available = m.is_torchelastic_launched = lambda: False
        m.init_process_group = initialize
        m.new_group, m.get_world_size, m.get_rank, m.get_backend = new_group, get_world_size, get_rank, get_backend
        m.get_process_group_ranks, m.all_gather_object = get_process_group_ranks, all_gather_object
        m.ReduceOp, m.all_reduce = ReduceOp, all_reduce
        m.barrier = m.broadcast = m.broadcast_object_list = m.destroy_process_group = m.monitored_barrier = nothing

    return fill
