"""The wheel alone is enough: all data is in it, and it works in an environment that has never seen this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Building and installing ask the package index.
pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", out, ROOT], check=True, capture_output=True)
    (made,) = out.glob("*.whl")
    return made


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    there = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".egg-info" not in str(path)
    }
    assert names == there
    assert {"gonogo/py.typed", "gonogo/hardware/gpus.toml", "gonogo/models/shapes/moe/config.json"} <= names
    assert len([name for name in names if name.endswith("engine.toml")]) == 2


def test_the_wheel_carries_the_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith("licenses/LICENSE")]
        (metadata,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        assert opened.read(name) == (ROOT / "LICENSE").read_bytes()
        assert "License-Expression: Apache-2.0" in opened.read(metadata).decode()


def test_the_wheel_works_from_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([place / "bin" / "pip", "install", "--quiet", wheel], check=True, capture_output=True)
    env = {**os.environ, "GONOGO_CACHE": str(tmp_path / "cache")}
    env.pop("PYTHONPATH", None)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    python = str(place / "bin" / "python")
    where = run(python, "-c", "import gonogo; print(gonogo.__file__)")
    assert where.stdout.startswith(str(place)), where.stderr
    told = json.loads(run(python, "-m", "gonogo", "gpus", "--json").stdout)
    assert len(told["gpus"]) > 30
    listed = run(str(place / "bin" / "gonogo"), "releases", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    refused = run(python, "-m", "gonogo", "check", "--gpu", "H1000", "--", "vllm", "serve", "x")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    # Every module can be imported, so no dependency is missing from the wheel's own list.
    names = [
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for path in sorted((ROOT / "src" / "gonogo").rglob("*.py"))
        if "inside" not in str(path) and path.name not in ("__init__.py", "__main__.py", "ask_hub.py")
    ]
    assert len(names) > 50
    imported = run(python, "-c", f"import importlib\nfor name in {names}: importlib.import_module(name)")
    assert imported.returncode == 0, imported.stderr
