"""Which packages a world has: by the engine's table, the release, its build, and the environment that it was found in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gonogo.dryrun import World
from gonogo.dryrun.packages import packages_in
from gonogo.engines.types import engine_named
from gonogo.hardware.parse import parse_hardware
from gonogo.releases import Build, Release
from gonogo.releases.types import Beside, Installed

from .tiny_world import make_world

VLLM = engine_named("vllm")
BUILD = Build("nvidia", ("vllm._C", "vllm.fast._D"), ("vllm/_C.abi3.so", "vllm/fast", "vllm/one.py"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, "")


def on(world: World, gpu: str, **changed: Any) -> World:
    return replace(world, hardware=parse_hardware(gpu), release=replace(world.release, **changed))


def packages(world: World) -> Any:
    return packages_in(VLLM, world.release, world.hardware.gpu.vendor, world.packages)


class TestBuild:
    def test_the_vendor_whose_build_it_is(self, world: World) -> None:
        found = packages(on(world, "H100", build=BUILD))
        own = {name for name in found.faked if name.startswith("vllm.") and name != "vllm.third_party.pynvml"}
        assert own == {"vllm._C", "vllm.fast._D"}
        assert not {name for name in found.absent if name.startswith("vllm.")}
        assert (found.hidden, found.empty) == ((), ())

    def test_another_vendor_has_what_the_table_says(self, world: World) -> None:
        found = packages(on(world, "MI300X", build=BUILD))
        table = set(VLLM.table["build"]["modules"]["amd"])
        assert table <= set(found.faked)
        assert "vllm.fast._D" not in found.faked
        assert {"vllm.fast", "vllm.one", "vllm._flashmla_C"} <= found.absent
        assert not table & found.absent
        assert found.hidden == BUILD.only

    def test_of_a_source_the_table_tells_for_all(self, world: World) -> None:
        found = packages(on(world, "H100"))
        assert set(VLLM.table["build"]["modules"]["nvidia"]) <= set(found.faked)
        assert "vllm._rocm_C" in found.absent
        assert "vllm/vllm_flash_attn/cute/interface.py" in found.empty

    def test_a_build_for_everybody(self, world: World) -> None:
        for gpu in ("H100", "MI300X", "cpu"):
            assert "vllm._C" in packages(on(world, gpu, build=Build(None, ("vllm._C",)))).faked


def installed(vendor: str, **versions: str) -> Installed:
    imports = {
        "torch": ("functorch", "torch"),
        "flashinfer_python": ("flashinfer",),
        "ray": ("ray",),
        "odd": ("strange",),
    }
    return Installed(
        vendor,
        {name.replace("_", "-"): Beside(version, imports.get(name, (name,)), ()) for name, version in versions.items()},
    )


class TestEnvironment:
    def found(self, world: World, gpu: str = "H100", vendor: str = "nvidia", **versions: str) -> Any:
        there = installed(vendor, **versions)
        known = {name: one.version for name, one in there.beside.items()}
        return packages(on(world, gpu, installed=there, versions={"vllm": "1.0", **known}))

    def test_what_is_there_is_there_and_what_is_not_is_not(self, world: World) -> None:
        found = self.found(world, torch="2.9.0", flashinfer_python="0.5", odd="7.0")
        assert found.faked["torch"] == found.faked["functorch"] == "2.9.0"
        assert found.faked["flashinfer"] == "0.5"
        assert found.faked["strange"] == "7.0"
        assert {"deep_ep", "triton", "xgrammar"} <= found.absent

    def test_a_package_that_no_image_has(self, world: World) -> None:
        assert self.found(world, ray="2.50").faked["ray"] == "2.50"
        assert "ray" not in self.found(world).faked

    def test_on_other_hardware_the_image_tells(self, world: World) -> None:
        found = self.found(world, "H100", "cpu", torch="2.9.0+cpu")
        assert {"flashinfer", "deep_ep", "triton"} <= set(found.faked)

    def test_fakes_of_the_engines_own_stay(self, world: World) -> None:
        assert "vllm.third_party.pynvml" in self.found(world).faked


def release_of(world: World, version: str, build: Build | None = None) -> Release:
    return replace(world.release, version=version, build=build)


@pytest.mark.parametrize(
    ("version", "gpu", "told"),
    [
        ("0.33.0", "H100", "0.33.0"),
        ("0.33.0", "cpu", "0.33.0+cpu"),
        ("0.33.0", "MI300X", "0.33.0+rocm700"),
        ("0.33.0+cu129", "H100", "0.33.0+cu129"),
        ("0.33.0+cu129", "cpu", "0.33.0+cpu"),
        ("0.33.1.dev3+g0123", "MI300X", "0.33.1.dev3+rocm700"),
    ],
)
def test_the_version_of_a_vendors_build(world: World, version: str, gpu: str, told: str) -> None:
    release = release_of(world, version, Build("nvidia"))
    described = replace(world, release=release, hardware=parse_hardware(gpu)).description()
    assert described["distributions"]["vllm"] == told
