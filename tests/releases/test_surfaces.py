"""Which names a package has, read in its wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonogo.releases.surfaces import Surfaces

from .package_index import PackageIndex, wheel

FILES = {
    "kernels/__init__.py": b"from .attention import Wrapper, helper as renamed\nfrom .shapes import *\n"
    b"import os.path\nLIMIT: int = 3\n",
    "kernels/attention/__init__.py": b"from ._core import Wrapper\ndef helper(): pass\n",
    "kernels/attention/_core.py": b"class Base: shared = 1\nclass Wrapper(Base):\n    def run(self): pass\n    size = 3\n",
    "kernels/shapes.py": b"WIDE = 1\n",
    "kernels/lazy.py": b"def __getattr__(name): return 1\n",
    "kernels/made.py": b"globals().update(x=1)\n",
    "kernels/broken.py": b"def (\n",
    "kernels/fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF",
}


@pytest.fixture
def surfaces(index: PackageIndex, tmp_path: Path) -> Surfaces:
    index.add("kernels", "kernels-2.0-py3-none-any.whl", wheel("kernels", "2.0", FILES))
    return Surfaces(tmp_path / "surfaces")


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("kernels", True),
        ("kernels.attention", True),
        ("kernels.nothing", False),
        ("kernels.Wrapper", True),
        ("kernels.renamed", True),
        ("kernels.helper", False),
        ("kernels.WIDE", True),
        ("kernels.os", True),
        ("kernels.LIMIT", True),
        ("kernels.shapes.NARROW", False),
        ("kernels.Wrapper.run", True),  # by way of two modules
        ("kernels.attention.Wrapper.size", True),
        ("kernels.attention._core.Wrapper.shared", None),  # a base may have it
        ("kernels.Wrapper.run.far", None),
        ("kernels.lazy.anything", None),
        ("kernels.made.x", None),
        ("kernels.broken.x", None),
        ("kernels.fast", True),
        ("kernels.fast.x", None),
        ("other", None),
    ],
)
def test_what_a_wheel_has(surfaces: Surfaces, name: str, there: bool | None) -> None:
    assert surfaces.has("kernels", "2.0", name) is there
    assert surfaces.has("kernels", "2.0", name) is there  # from what is kept


def test_what_is_kept_needs_no_index(surfaces: Surfaces, index: PackageIndex, tmp_path: Path) -> None:
    assert surfaces.has("kernels", "2.0", "kernels.Wrapper.run") is True
    index.go_down()
    later = Surfaces(tmp_path / "surfaces")
    assert later.has("kernels", "2.0", "kernels.Wrapper.run") is True
    assert later.has("kernels", "2.0", "kernels.lazy.anything") is None


def test_a_package_that_is_not_there(surfaces: Surfaces) -> None:
    assert surfaces.has("kernels", "3.0", "kernels") is None
    assert surfaces.text("nobody", "1.0", "nobody") is None


def test_the_text_of_a_module(surfaces: Surfaces) -> None:
    assert surfaces.text("kernels", "2.0", "kernels.shapes") == "WIDE = 1\n"
    assert surfaces.text("kernels", "2.0", "kernels.fast") == ""
    assert surfaces.text("kernels", "2.0", "kernels.nothing") == ""
