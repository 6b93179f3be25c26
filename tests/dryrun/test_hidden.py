"""Files of a build that another vendor's does not have, as the child sees them."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from gonogo.releases import Build
from tests.dryrun.tiny_world import Runs, make_world
from tests.releases.package_index import wheel

PAGE = """
import importlib, importlib.util, os, pkgutil
import vllm

HERE = os.path.dirname(__file__)

def look():
    told = {
        "folder": os.path.exists(os.path.join(HERE, "fast")),
        "file": os.path.exists(os.path.join(HERE, "fast", "kernel.py")),
        "alone": os.path.exists(os.path.join(HERE, "alone.py")),
        "found": importlib.util.find_spec("vllm.fast") is not None,
        "listed": sorted(set(os.listdir(HERE)) & {"fast", "alone.py", "page.py"}),
        "scanned": sorted({entry.name for entry in os.scandir(HERE)} & {"fast", "alone.py", "page.py"}),
        "walked": sorted({one.name for one in pkgutil.iter_modules(vllm.__path__)} & {"fast", "alone", "page"}),
    }
    for what, name in (("imported", "vllm.fast.kernel"), ("compiled", "vllm.fast._C")):
        try:
            told[what] = type(importlib.import_module(name)).__name__
        except ImportError as error:
            told[what] = type(error).__name__
    return told
"""


@pytest.mark.parametrize("gpu", ["H100:8", "MI300X:8"])
def test_what_only_a_build_has_is_there_for_its_vendor_only(tmp_path: Path, gpu: str) -> None:
    world = make_world(tmp_path, PAGE, gpu)
    root = world.release.root
    for name in ("vllm/fast/__init__.py", "vllm/fast/kernel.py", "vllm/fast/_C.abi3.so", "vllm/alone.py"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")
    build = Build("nvidia", ("vllm.fast._C",), ("vllm/alone.py", "vllm/fast"))
    runs = Runs(replace(world, release=replace(world.release, build=build)), tmp_path)
    try:
        outcome = runs.outcome("look")
    finally:
        runs.close()
    assert outcome.kind == "passed"
    told = {name.removeprefix("part."): value for name, value in outcome.resolved.items()}
    if gpu.startswith("H100"):
        there = "['alone.py', 'fast', 'page.py']"
        assert told == {
            **dict.fromkeys(("folder", "file", "alone", "found"), "True"),
            "listed": there,
            "scanned": there,
            "walked": "['alone', 'fast', 'page']",
            "imported": "module",
            "compiled": "FakeModule",
        }
    else:
        assert told == {
            **dict.fromkeys(("folder", "file", "alone", "found"), "False"),
            "listed": "['page.py']",
            "scanned": "['page.py']",
            "walked": "['page']",
            "imported": "ModuleNotFoundError",
            "compiled": "ModuleNotFoundError",
        }


METADATA = """
import importlib, importlib.metadata, importlib.util

def look():
    try:
        version = importlib.metadata.version("tiny-dep")
    except importlib.metadata.PackageNotFoundError:
        version = None
    names = [found.metadata["Name"] for found in importlib.metadata.distributions()]
    return {
        "version": repr(version),
        "listed": "tiny-dep" in names,
        "found": importlib.util.find_spec("tinydep") is not None,
    }
"""


@pytest.mark.parametrize("there", [True, False])
def test_a_package_of_the_environment_that_is_not_there(tmp_path: Path, there: bool) -> None:
    world = make_world(tmp_path, METADATA)
    content = wheel("tiny-dep", "1.0", {"tinydep/__init__.py": b""})
    zipfile.ZipFile(io.BytesIO(content)).extractall(world.release.environment)
    runs = Runs(replace(world, packages={} if there else {"tinydep": False}), tmp_path)
    try:
        outcome = runs.outcome("look")
    finally:
        runs.close()
    told = {name.removeprefix("part."): value for name, value in outcome.resolved.items()}
    assert told == {"version": "'1.0'" if there else "None", "listed": str(there), "found": str(there)}
