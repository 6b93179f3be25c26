from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gonogo.releases import Releases

from .package_index import PackageIndex, sdist, wheel


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """An index with two finished vllm, a pre-release, one sglang, and what they need; the only index that is set."""
    for name in ("UV_INDEX_URL", "PIP_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    made = PackageIndex()
    monkeypatch.setenv("UV_DEFAULT_INDEX", made.address)
    requires = ("tinydep>=1", "torch==2.14.0", 'nowhere; extra == "bench"', 'onlywindows; sys_platform == "win32"')
    for version, uploaded in (("1.0.0", "2026-01-05T12:00:00Z"), ("1.1.0", "2026-02-05T12:00:00Z")):
        made.add("vllm", f"vllm-{version}.tar.gz", vllm_sdist(version, requires), uploaded=uploaded)
    made.add("vllm", "vllm-1.2.0rc1.tar.gz", vllm_sdist("1.2.0rc1", requires), uploaded="2026-03-05T12:00:00Z")
    code = {"sglang/__init__.py": b"", "sglang/fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF" * 100}
    for tag in ("cp311-cp311-manylinux_2_34_aarch64", "cp311-cp311-manylinux_2_34_x86_64"):
        made.add("sglang", f"sglang-0.5.0-{tag}.whl", wheel("sglang", "0.5.0", code, requires=("tinydep",), tag=tag))
    # what a release needs is in the version of its day
    for version, uploaded in (
        ("1.0", "2026-01-01T00:00:00Z"),
        ("1.5", "2026-02-01T00:00:00Z"),
        ("2.0", "2026-06-01T00:00:00Z"),
    ):
        code = {
            "tinydep/__init__.py": f"version = {version!r}\n".encode(),
            "tinydep/tests/test_it.py": b"",
            "tinydep/it.pyi": b"",
        }
        content = wheel("tinydep", version, code, requires=("tinier",))
        made.add("tinydep", f"tinydep-{version}-py3-none-any.whl", content, uploaded=uploaded)
    made.add("tinier", "tinier-3.0-py3-none-any.whl", wheel("tinier", "3.0", {"tinier.py": b"x = 1\n"}))
    made.add("torch", "torch-2.14.0-py3-none-any.whl", wheel("torch", "2.14.0", {"torch.py": b""}, requires=("sympy",)))
    made.add("sympy", "sympy-1.13-py3-none-any.whl", wheel("sympy", "1.13", {"sympy.py": b""}))
    yield made
    made.go_down()


def vllm_sdist(version: str, requires: tuple[str, ...] = (), python: str = ">=3.8") -> bytes:
    files = {
        "vllm/__init__.py": f"__version__ = {version!r}\n".encode(),
        "vllm/config/model.json": b"{}",
        "vllm.egg-info/entry_points.txt": b"[vllm.general_plugins]\nours = vllm:__version__\n",
        "tests/test_it.py": b"",
        "setup.py": b"raise SystemExit('setup.py was run')\n",
    }
    return sdist("vllm", version, files, requires=requires, python=python)


@pytest.fixture
def releases(index: PackageIndex, tmp_path: Path) -> Releases:
    return Releases(tmp_path / "cache")
