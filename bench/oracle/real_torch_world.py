"""A world in which torch is the real one, and the pretend device is put into it: what the second judge runs launches in."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gonogo.dryrun import World

from real_environment import RealEnvironment

#: The target of a Python launch that has the parser read out (real_torch/adapter.py).
READ_FLAGS = "gonogo_read_flags"
_HERE = Path(__file__).parent
#: Optional to real packages, which compute with what they find there: a stand-in will not do.
_WITHOUT = ("ml_dtypes",)


@dataclass(frozen=True)
class RealTorchWorld(World):
    """Like the world it is made from, but that the packages ``real`` are no stand-ins.

    ``place`` holds the joined environment (``site``) and the adapter (``adapter/adapter.py``).
    """

    real: tuple[str, ...] = ()
    place: Path = Path()

    def description(self) -> dict[str, Any]:
        """What the child is told: all but torch is as in every dry run."""
        told = super().description()
        left_out = {*self.real, *_WITHOUT}
        faked = {name: version for name, version in told["faked"].items() if name not in left_out}
        return {
            **told,
            "faked": faked,
            "absent": sorted({*told["absent"], *_WITHOUT}),
            "environment": str(self.place / "site"),
            "adapter": str(self.place / "adapter" / "adapter.py"),
        }


def with_real_torch(world: World, environment: RealEnvironment, place: Path) -> RealTorchWorld:
    """The world with the torch of ``environment``; ``place`` is a folder that is made for it, and removed by the caller."""
    stand_ins = [name for table in world.engine.table["packages"].values() for name in table]
    real = environment.join(world.release.environment, place / "site", stand_ins)
    shutil.copytree(_HERE / "real_torch", place / "adapter")
    shutil.copy(_HERE / "read_flags.py", place / "adapter")
    shutil.copytree(world.engine.inside.parent, place / "adapter" / "engine")
    (place / "adapter" / "facts.json").write_text(json.dumps(_facts(world)), encoding="utf-8")
    same = {field.name: getattr(world, field.name) for field in fields(World)}
    return RealTorchWorld(**same, real=tuple(real), place=place)


def _facts(world: World) -> dict[str, Any]:
    """The hardware, and what the build of torch for it says of itself."""
    told = world.description()
    versions, gpu = told["versions"], world.hardware.gpu
    cuda, rocm = versions.get("cuda", "13.0"), versions.get("rocm", "7.0.2")
    nvidia, amd = gpu.vendor == "nvidia", gpu.vendor == "amd"
    label = f"cu{cuda.replace('.', '')}" if nvidia else f"rocm{'.'.join(rocm.split('.')[:2])}" if amd else "cpu"
    hardware: dict[str, Any] = told["hardware"]
    return {
        **hardware,
        "engine": world.engine.name,
        "torch": f"{versions['torch']}+{label}",
        "cuda": cuda if nvidia else None,
        "hip": f"{rocm}-0" if amd else None,
        "rocm": rocm if amd else None,
        "architectures": ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"] if nvidia else [gpu.gfx],
    }
