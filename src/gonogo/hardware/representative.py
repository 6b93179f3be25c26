"""The hardware that is tried when a launch leaves the GPU open."""

from __future__ import annotations

from gonogo.hardware.catalog import gpu_named
from gonogo.hardware.hosts import host_named
from gonogo.hardware.parse import MOST_GPUS
from gonogo.hardware.types import Hardware
from gonogo.problems import UsageProblem

# One of each kind that engines tell apart: Ampere with large memory, a small Ada card without NVLink, Hopper,
# Blackwell, and AMD. What passes on all of these and what is refused on all of these is so for nearly every server.
_NAMES = ("A100-80GB", "L4", "H100-80GB", "B200", "MI300X")
_PER_NODE = 8


def representative(gpus_needed: int) -> tuple[Hardware, ...]:
    """Plausible hardware over vendors and generations, each with ``gpus_needed`` GPUs (at least one).

    Up to eight sit in one node. More are spread over the fewest nodes of at most eight: evenly where that works out
    (16 is two of 8, 12 two of 6), else in full nodes (9 is two of 8). Raises UsageProblem for more than 1024.
    """
    needed = max(gpus_needed, 1)
    if needed > MOST_GPUS:
        raise UsageProblem(f"the launch needs {needed} GPUs, more than the {MOST_GPUS} that gonogo looks at")
    nodes = -(-needed // _PER_NODE)
    count = _PER_NODE if needed % nodes else needed // nodes
    gpus = [gpu_named(name) for name in _NAMES]
    return tuple(Hardware(gpu, count, nodes, host_named(gpu.host)) for gpu in gpus)
