"""Facts of the hardware taken away, for negative controls: what depends on one of them must say so."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from .decisions import DECISIONS
from .gpucount import GPUCount
from .unknown import Unknown

#: What can be withheld.
FACTS = ("capability", "count", "memory", "ram", "vendor")


def withhold(hardware: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The hardware with unknown values in place of the facts ``names``. ValueError for a name that is none of FACTS."""
    hardware = copy.deepcopy(hardware)
    gpu, host = hardware["gpu"], hardware["host"]
    for name in names:
        if name == "capability":
            gpu["capability"] = [_unknown("capability, major"), _unknown("capability, minor")]
            gpu["gfx"] = gpu["gfx"] and _unknown("capability, gfx")
        elif name == "count":
            GPUCount.withheld = _unknown("count")
        elif name == "memory":
            gpu["memory_mib"], gpu["torch_memory_mib"] = _unknown("memory"), 0
        elif name == "ram":
            host["ram_bytes"], host["available_ram_bytes"] = _unknown("ram"), _unknown("ram, available")
        elif name == "vendor":
            # One decision for all that follows from it: a machine of two vendors would tell nothing.
            gpu["vendor"] = DECISIONS.take("value", "withheld: vendor", gpu["vendor"], "cpu")
        else:
            raise ValueError(f"{name!r} cannot be withheld, only {', '.join(FACTS)}")
    return hardware


def _unknown(name: str) -> Unknown:
    return Unknown(f"withheld: {name}")
