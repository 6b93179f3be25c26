"""A vllm of one page: ``vllm serve NAME`` runs the function NAME of the page, in a child like every other release's."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gonogo.dryrun import DryRuns, World
from gonogo.dryrun.answer import Answer, outcome_of
from gonogo.dryrun.outcome import Outcome
from gonogo.dryrun.process import ChildProcess
from gonogo.dryrun.request import request_for
from gonogo.hardware.parse import parse_hardware
from gonogo.launches import read_line
from gonogo.models.find import Models
from gonogo.releases import Release

MAIN = """
import sys
from vllm.engine.arg_utils import EngineArgs

def main():
    EngineArgs(sys.argv[2:]).create_engine_config()
"""
ARG_UTILS = """
import vllm.page

class Part:
    def __init__(self, values):
        self.__dict__.update(values)

class Config:
    def __init__(self, values):
        self.part = Part(values)

class EngineArgs:
    def __init__(self, words):
        self.words = words

    def create_engine_config(self):
        return Config(getattr(vllm.page, self.words[0])(*self.words[1:]) or {})

class AsyncEngineArgs(EngineArgs):
    pass
"""


def make_world(folder: Path, page: str, gpu: str = "H100:8", **changed: Any) -> World:
    """The world of a vllm whose page this is, written below ``folder``."""
    root = folder / "tree"
    files = {
        "vllm/__init__.py": "",
        "vllm/page.py": page,
        "vllm/engine/__init__.py": "",
        "vllm/engine/arg_utils.py": ARG_UTILS,
        "vllm/entrypoints/__init__.py": "",
        "vllm/entrypoints/cli/__init__.py": "",
        "vllm/entrypoints/cli/main.py": MAIN,
        "vllm/model_executor/__init__.py": "",
        "vllm/model_executor/models/__init__.py": "",
        "vllm/model_executor/models/registry.py": "",
        "vllm-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: vllm\nVersion: 1.0\n",
        "vllm-1.0.dist-info/entry_points.txt": "[console_scripts]\nvllm = vllm.entrypoints.cli.main:main\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    site = folder / "site"
    site.mkdir(exist_ok=True)
    release = Release(
        "vllm",
        "1.0",
        root,
        ">=3.11",
        datetime(2026, 1, 1, tzinfo=UTC),
        site,
        Path(sys.executable),
        {"torch": "2.9.1"},
        str(root),
    )
    return replace(World(release, parse_hardware(gpu)), **changed)


class Runs:
    """Dry runs of one tiny world; ``vllm serve`` is understood before the words of a launch."""

    def __init__(self, world: World, models: Path) -> None:
        self.world = world
        self.dry_runs = DryRuns(None)
        self.models = Models(None, {}, folder=models, hub=False, cache=models / "cache")

    def answer(self, words: str) -> Answer:
        return self.dry_runs.answer(read_line(f"vllm serve {words}"), self.world, self.models)

    def outcome(self, words: str) -> Outcome:
        answer = self.answer(words)
        return outcome_of(answer, self.world)

    def close(self) -> None:
        self.dry_runs.close()


def start(world: World) -> ChildProcess:
    """A child of the world, for its caller to close."""
    return ChildProcess(world.release.python, {**world.description(), "jobs": 1})


def ask(child: ChildProcess, words: str, folder: Path) -> dict[str, Any]:
    """The child's own answer to ``vllm serve WORDS``."""
    models = Models(None, {}, folder=folder, hub=False, cache=folder / "cache")
    return child.ask_one(request_for(read_line(f"vllm serve {words}"), models))
