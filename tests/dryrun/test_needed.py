"""Modules that an engine cannot be loaded without are taken to be in its image; those that it can do without are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gonogo.dryrun import DryRuns
from gonogo.dryrun.memory import Memory
from tests.dryrun.tiny_world import Runs, make_world

NEEDS = """
import needed_for_all
from needed_for_all.part import Thing

try:
    import not_needed
except ImportError:
    not_needed = None

class Own(Thing):
    pass

def passes():
    pass

def refuses():
    if not_needed is None:
        raise ValueError("install not_needed")

def decides():
    if needed_for_all.version > 3:
        raise ValueError("too new")
"""
Make = Callable[..., Runs]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Runs] = []

    def one(page: str, **changed: Any) -> Runs:
        made.append(Runs(make_world(tmp_path, page, **changed), tmp_path))
        return made[-1]

    yield one
    for each in made:
        each.close()


def test_the_engine_loads_with_a_stand_in(make: Make) -> None:
    assert make(NEEDS).outcome("passes").kind == "passed"


def test_a_module_that_it_can_do_without_stays_away(make: Make) -> None:
    outcome = make(NEEDS).outcome("refuses")
    assert (outcome.kind, outcome.error and outcome.error.message) == ("refused", "install not_needed")


def test_what_hangs_on_the_stand_in_is_unclear(make: Make) -> None:
    outcome = make(NEEDS).outcome("decides")
    assert outcome.kind == "unclear"
    assert "needed_for_all.version" in (outcome.reason or "")


def test_a_world_that_says_it_is_not_there_is_believed(make: Make) -> None:
    outcome = make(NEEDS, packages={"needed_for_all": False}).outcome("passes")
    assert outcome.kind == "unclear"
    assert "No module named 'needed_for_all'" in (outcome.reason or "")


def test_a_module_of_the_engines_own_has_no_stand_in(make: Make) -> None:
    outcome = make("import vllm.lost").outcome("passes")
    assert outcome.kind == "unclear"
    assert "No module named 'vllm.lost'" in (outcome.reason or "")


def test_another_failure_stays_one(make: Make) -> None:
    outcome = make("import needed_for_all\nraise RuntimeError('no')").outcome("passes")
    assert outcome.kind == "unclear"
    assert "RuntimeError: no" in (outcome.reason or "")


def test_they_are_remembered(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[Any] = []
    monkeypatch.setattr("gonogo.dryrun.dryruns.ChildProcess", _counting(starts))
    counts = []
    for name in ("passes", "refuses"):
        runs = make(NEEDS)
        runs.dry_runs = DryRuns(Memory(tmp_path / "outcomes"))
        runs.outcome(name)
        counts.append(len([world for _, world in starts if not world.get("forced")]))
        del starts[:]
    assert counts == [2, 1]


def _counting(starts: list[Any]) -> Any:
    from gonogo.dryrun.process import ChildProcess

    def start(*args: Any, **kwargs: Any) -> ChildProcess:
        starts.append(args)
        return ChildProcess(*args, **kwargs)

    return start
