"""Where no image is named, an optional package may be installed: a refusal for want of it is open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gonogo.check.packages_open import with_packages_open
from gonogo.dryrun import DryRun, Error, Outcome, World
from tests.dryrun.tiny_world import make_world

ERROR = Error("0" * 16, "ImportError", (), "install ray", None)
REFUSED = DryRun(Outcome("refused", error=ERROR), lacks=("ray",))


def settled(run: DryRun, tmp_path: Path, other: Outcome) -> tuple[DryRun, list[dict[str, bool]]]:
    tried: list[dict[str, bool]] = []

    def again(world: World) -> DryRun:
        tried.append(world.packages)
        return DryRun(other)

    return with_packages_open(run, make_world(tmp_path, ""), again), tried


def test_one_that_helps_leaves_it_open(tmp_path: Path) -> None:
    found, tried = settled(REFUSED, tmp_path, Outcome("passed"))
    assert tried == [{"ray": True}]
    assert (found.outcome.kind, found.outcome.error) == ("unclear", ERROR)
    assert "whether the package ray is installed" in str(found.outcome.reason)


def test_one_that_does_not_help_changes_nothing(tmp_path: Path) -> None:
    assert settled(REFUSED, tmp_path, REFUSED.outcome)[0] == REFUSED


def test_only_refusals_that_speak_of_one_are_tried(tmp_path: Path) -> None:
    for run in (DryRun(Outcome("passed"), lacks=("ray",)), replace(REFUSED, lacks=())):
        assert settled(run, tmp_path, Outcome("passed")) == (run, [])
