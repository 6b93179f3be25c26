"""How many GPUs there are: the one fact of the hardware that may still change after the engine is loaded.

As long as nothing asked for it while loading, one child serves every count.
"""

from __future__ import annotations


class GPUCount:
    """The count of GPUs in this node; ``asked`` once somebody wanted to know it."""

    value = 0
    asked = False


def gpu_count() -> int:
    """The number of GPUs; asking is remembered."""
    GPUCount.asked = True
    return GPUCount.value


def any_gpu() -> bool:
    """Whether there is one at all, which no count changes."""
    return GPUCount.value > 0
