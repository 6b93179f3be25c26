"""Tables in plain Python that a package brings which a dry run leaves out: their values are the package's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gonogo.dryrun import DryRuns
from gonogo.dryrun.memory import Memory
from gonogo.dryrun.process import ChildProcess
from tests.dryrun.tiny_world import Runs, make_world

PAGE = """
import kernels
from kernels.tables import KINDS
from kernels.compiled import SIZES

def has(name):
    if name not in KINDS.values():
        raise ValueError(f"no kernel for {name}")

def same(name):
    if name == "int4" and KINDS["a"] != name:
        raise ValueError("other")

def fits():
    if SIZES.largest == 3:
        raise ValueError("too small")

def optional():
    try:
        from kernels.tables import LATER
    except ImportError:
        raise ValueError("too old")

def compiled():
    try:
        from kernels.compiled import LATER
    except ImportError:
        raise ValueError("too old")
"""
TEXTS = {
    "kernels.tables": "import enum\nKINDS = {'a': 'int4'}\n",
    "kernels.compiled": "import torch\nclass SIZES: largest = 3\n",
}


class Wheel:
    """Stands for what the package index tells of the wheel of ``kernels`` 2.0."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def has(self, distribution: str, version: str, name: str) -> bool | None:
        return False if name.endswith(".LATER") else None

    def text(self, distribution: str, version: str, module: str) -> str | None:
        assert (distribution, version) == ("kernels", "2.0")
        self.asked.append(module)
        return TEXTS.get(module, "")


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    world = make_world(tmp_path, PAGE)
    world = replace(world, release=replace(world.release, versions={**world.release.versions, "kernels": "2.0"}))
    made = Runs(world, tmp_path)
    made.dry_runs = DryRuns(Memory(tmp_path / "outcomes"), surfaces=Wheel())  # type: ignore[arg-type]
    yield made
    made.close()


def test_a_plain_table_is_known(runs: Runs) -> None:
    assert runs.outcome("same int4").kind == "passed"
    outcome = runs.outcome("has int8")
    assert (outcome.kind, outcome.depends_on, outcome.error and outcome.error.message) == (
        "refused",
        (),
        "no kernel for int8",
    )


def test_a_module_that_needs_more_than_python_is_not_run(runs: Runs) -> None:
    outcome = runs.outcome("fits")
    assert outcome.kind == "unclear"
    assert "kernels.compiled.SIZES" in (outcome.reason or "")


def test_what_a_plain_module_lacks_is_missing(runs: Runs) -> None:
    outcome = runs.outcome("optional")
    assert (outcome.kind, outcome.error and outcome.error.message) == ("refused", "too old")


def test_nothing_is_asked_or_run_twice(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = runs.outcome("same int4")

    def started(*_args: Any, **_kwargs: Any) -> ChildProcess:
        raise AssertionError("a child is started for what is remembered")

    wheel = Wheel()
    later = Runs(runs.world, tmp_path)
    later.dry_runs = DryRuns(Memory(tmp_path / "outcomes"), surfaces=wheel)  # type: ignore[arg-type]
    assert later.outcome("has int4").kind == "passed"
    assert wheel.asked == []
    later.close()
    monkeypatch.setattr("gonogo.dryrun.dryruns.ChildProcess", started)
    assert later.outcome("same int4") == first


def test_a_launch_that_ran_with_a_name_taken_away_is_remembered(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_args: Any, **_kwargs: Any) -> ChildProcess:
        raise AssertionError("a child is started for what is remembered")

    first = runs.outcome("compiled")
    assert (first.kind, first.depends_on) == ("refused", ())
    runs.dry_runs.close()
    monkeypatch.setattr("gonogo.dryrun.dryruns.ChildProcess", started)
    assert runs.outcome("compiled") == first
