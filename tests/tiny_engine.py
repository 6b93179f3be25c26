"""A vllm that any machine runs in a moment: two releases on a package index of this machine, and a cache with one.

It has what gonogo needs to find in an engine (main(), EngineArgs, a registry of models), and options that misbehave.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.releases.package_index import PackageIndex, sdist, wheel

MAIN = b"""
import argparse, json, os, threading
from vllm.engine.arg_utils import EngineArgs


def main():
    parser = argparse.ArgumentParser("vllm")
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("model", nargs="?", default="none")
    parser.add_argument("--api-key", nargs="*")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--refuse", help="say this and stop")
    parser.add_argument("--tell", help="say what this variable holds and stop")
    parser.add_argument("--wait", action="store_true", help="start up for ever")
    args = parser.parse_args()
    EngineArgs(args).create_engine_config()
"""
ARG_UTILS = b"""
import json, os, threading


class EngineArgs:
    def __init__(self, args):
        self.args = args

    def create_engine_config(self):
        args = self.args
        if args.wait:
            threading.Event().wait()
        if args.tell:
            raise ValueError(repr(os.environ.get(args.tell)) + repr(args.api_key))
        if args.refuse:
            raise ValueError(args.refuse)
        if os.path.isdir(args.model):
            with open(os.path.join(args.model, "config.json")) as file:
                json.load(file)
        return Config()


class AsyncEngineArgs(EngineArgs):
    pass


class Config:
    pass
"""


def release(version: str) -> bytes:
    """The sdist of one version."""
    empty = dict.fromkeys(
        [
            f"vllm/{name}/__init__.py"
            for name in ("engine", "entrypoints", "entrypoints/cli", "model_executor", "model_executor/models")
        ],
        b"",
    )
    code = {
        "vllm/__init__.py": f"__version__ = {version!r}\n".encode(),
        **empty,
        "vllm/engine/arg_utils.py": ARG_UTILS,
        "vllm/entrypoints/cli/main.py": MAIN,
        "vllm/model_executor/models/registry.py": b"",
        "vllm.egg-info/entry_points.txt": b"[console_scripts]\nvllm = vllm.entrypoints.cli.main:main\n",
    }
    return sdist("vllm", version, code, requires=("tinydep",))


def make_index() -> PackageIndex:
    """An index with vllm 0.32.0 and 0.33.0."""
    index = PackageIndex()
    for version, uploaded in (("0.32.0", "2026-01-05T12:00:00Z"), ("0.33.0", "2026-02-05T12:00:00Z")):
        index.add("vllm", f"vllm-{version}.tar.gz", release(version), uploaded=uploaded)
    index.add("tinydep", "tinydep-1.0-py3-none-any.whl", wheel("tinydep", "1.0", {"tinydep.py": b"x = 1\n"}))
    return index


@dataclass
class Place:
    """A folder of a test's own, with a cache that holds vllm 0.32.0 (``cache``), and a place for temporary folders."""

    folder: Path
    index: PackageIndex

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def environment(self, **changed: str | None) -> dict[str, str]:
        """Variables for a gonogo that runs here and asks nobody but the index."""
        env: dict[str, str | None] = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.temporary),
            "GONOGO_CACHE": str(self.cache),
            "UV_DEFAULT_INDEX": self.index.address,
            "HF_HUB_OFFLINE": "1",
            **changed,
        }
        return {name: value for name, value in env.items() if value is not None}

    def start(
        self, *words: str | bytes, env: dict[str, str | None] | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        """gonogo with these words, in a process of its own."""
        # Whoever runs the tests in the background has them ignore some signals, and a child would inherit that.
        given = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "preexec_fn": _usual_signals,
            **options,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "gonogo", *words],
            env=self.environment(**(env or {})),
            **{"cwd": self.folder, **given},
        )

    def run(self, *words: str | bytes, env: dict[str, str | None] | None = None, **options: Any) -> Done:
        """The same, to its end."""
        process = self.start(*words, env=env, **options)
        out, err = process.communicate(timeout=120)
        return Done(process.returncode, (out or b"").decode(), (err or b"").decode())

    def check(self, *words: str | bytes, options: tuple[str, ...] = (), **rest: Any) -> Done:
        """``gonogo check`` of a launch of vllm 0.32.0 on a CPU."""
        return self.run("check", "--release", "vllm==0.32.0", "--gpu", "cpu", *options, "--", *words, **rest)


def _usual_signals() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    def says(self, code: int, *pieces: str) -> None:
        """It ended with ``code`` and one line on stderr that holds the ``pieces``, and no traceback anywhere."""
        assert self.code == code, self
        assert self.err.startswith("gonogo: "), self
        assert self.err.count("\n") == 1, self
        assert self.err.endswith("\n"), self
        assert "Traceback" not in self.out + self.err, self
        for piece in pieces:
            assert piece in self.err, self


def new_place(folder: Path, index: PackageIndex, cache: Path | None) -> Place:
    """A place in ``folder``, with a copy of ``cache``."""
    place = Place(folder, index)
    for each in (place.temporary, folder / "home"):
        each.mkdir(parents=True)
    if cache is not None:
        shutil.copytree(cache, place.cache, symlinks=True)
    return place
