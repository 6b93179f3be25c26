"""Worlds with an adapter of the bench's: in which torch is real and has the pretend device, and in which it is a stand-in."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from real_environment import RealEnvironment

from gonogo.dryrun import World

#: Targets of Python launches that the adapter answers itself (real_torch/adapter.py).
READ_FLAGS, ASK_TORCH = "gonogo_read_flags", "gonogo_ask_torch"
_HERE = Path(__file__).parent
#: Optional to real packages, which compute with what they find there: a stand-in will not do.
_WITHOUT = ("ml_dtypes",)


@dataclass(frozen=True)
class BenchWorld(World):
    """Like the world it is made from, but that the packages ``real`` are no stand-ins.

    ``place`` holds the adapter (``adapter/adapter.py``) and, where any package is real, the environment (``site``).
    """

    real: tuple[str, ...] = ()
    place: Path = Path()

    def description(self) -> dict[str, Any]:
        """What the child is told: all but torch is as in every dry run."""
        told = {**super().description(), "adapter": str(self.place / "adapter" / "adapter.py")}
        if not self.real:
            return told
        left_out = {*self.real, *_WITHOUT}
        told["faked"] = {name: version for name, version in told["faked"].items() if name not in left_out}
        return {**told, "absent": sorted({*told["absent"], *_WITHOUT}), "environment": str(self.place / "site")}


def with_real_torch(world: World, environment: RealEnvironment, place: Path) -> BenchWorld:
    """The world with the torch of ``environment``; ``place`` is a folder that is made for it, and removed by the caller."""
    stand_ins = [name for table in world.engine.table["packages"].values() for name in table]
    real = environment.join(world.release.environment, place / "site", stand_ins)
    return _with_adapter(world, place, tuple(real), _device(world))


def with_stand_ins(world: World, place: Path) -> BenchWorld:
    """The world as it is, with the same adapter."""
    return _with_adapter(world, place, (), None)


def _with_adapter(world: World, place: Path, real: tuple[str, ...], device: dict[str, Any] | None) -> BenchWorld:
    adapter = place / "adapter"
    shutil.copytree(_HERE / "real_torch", adapter)
    shutil.copy(_HERE / "read_flags.py", adapter)
    shutil.copytree(world.engine.inside.parent, adapter / "engine")
    facts = {"engine": world.engine.name, "device": device}
    (adapter / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    same = {field.name: getattr(world, field.name) for field in fields(World)}
    return BenchWorld(**same, real=real, place=place)


def _device(world: World) -> dict[str, Any]:
    """The hardware, and what the build of torch for it says of itself."""
    told = world.description()
    versions, gpu = told["versions"], world.hardware.gpu
    cuda, rocm = versions.get("cuda", "13.0"), versions.get("rocm", "7.0.2")
    nvidia, amd = gpu.vendor == "nvidia", gpu.vendor == "amd"
    label = f"cu{cuda.replace('.', '')}" if nvidia else f"rocm{'.'.join(rocm.split('.')[:2])}" if amd else "cpu"
    return {
        **told["hardware"],
        "torch": f"{versions['torch']}+{label}",
        "cuda": cuda if nvidia else None,
        "hip": f"{rocm}-0" if amd else None,
        "rocm": rocm if amd else None,
        "architectures": ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"] if nvidia else [gpu.gfx],
    }
