"""How many GPUs there are: the one fact of the hardware that may still change after the engine is loaded.

As long as nothing asked for it while loading, one child serves every count. That there is a GPU at all is no such question.
"""

from __future__ import annotations

from typing import Any


class GPUCount:
    """The count of GPUs in this node; ``asked`` once somebody wanted to know it."""

    value = 0
    asked = False
    #: What stands in its place where the count is withheld.
    withheld: Any = None


def gpu_count() -> int:
    """The number of GPUs."""
    if GPUCount.withheld is not None:
        GPUCount.asked = True
        withheld: int = GPUCount.withheld
        return withheld
    return _Count(GPUCount.value)


def any_gpu() -> bool:
    """Whether there is one at all, which no count changes."""
    return GPUCount.value > 0 or GPUCount.withheld is not None


class _Count(int):
    """A number that remembers when it mattered. Comparing it with 0 tells nothing that changes; nor does a loop over it.

    A loop sees the same GPU over and over.
    """

    def __bool__(self) -> bool:
        return int.__bool__(self)

    def __hash__(self) -> int:
        return int.__hash__(self)


def _minding(name: str) -> Any:
    ordinary = getattr(int, name)

    def mind(self: Any, *args: Any) -> Any:
        harmless = name in ("__gt__", "__eq__", "__ne__", "__le__") and args == (0,)
        if not harmless:
            GPUCount.asked = True
        return ordinary(self, *args)

    return mind


for _name in [
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "floordiv",
    "rfloordiv",
    "truediv",
    "rtruediv",
    "mod",
    "rmod",
    "divmod",
    "pow",
    "neg",
    "repr",
    "str",
    "format",
    "int",
    "float",
    "round",
]:
    if hasattr(int, f"__{_name}__"):
        setattr(_Count, f"__{_name}__", _minding(f"__{_name}__"))
