"""Where no image is named, an optional package may be installed: a refusal for want of it is open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gonogo.check.packages_open import with_packages_open, with_versions_open
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


def of_version(message: str, tmp_path: Path, metadata: str = "") -> DryRun:
    world = make_world(tmp_path, "")
    (tmp_path / "tree" / "vllm-1.0.dist-info" / "METADATA").write_text(f"Name: vllm\nVersion: 1.0\n{metadata}")
    versions = {"vllm": "1.0", "transformers": "4.57.6", "flash-attn": "2.8", "torch": "2.9.1"}
    world = replace(world, release=replace(world.release, versions=versions))
    return with_versions_open(DryRun(Outcome("refused", error=replace(ERROR, message=message))), world)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        # transformers/models/auto/configuration_auto.py
        ("This could be because of an issue, or because your version of Transformers is out of date.", "transformers"),
        ("transformers version 4.57.6 is too old", "transformers"),
        ("Model needs transformers>=5.0", "transformers"),
        ("Please install flash_attn >= 2.9", "flash-attn"),
        ("the version of Flash Attn is not the one", "flash-attn"),
    ],
)
def test_a_refusal_of_a_version_leaves_it_open(tmp_path: Path, message: str, name: str) -> None:
    found = of_version(message, tmp_path)
    assert found.outcome.kind == "unclear"
    assert found.outcome.depends_on == (
        f"which {name} is installed: the official image has {'4.57.6' if name == 'transformers' else '2.8'}",
    )
    assert found.outcome.error is not None


@pytest.mark.parametrize(
    ("message", "metadata"),
    [
        ("Transformers cannot read this", ""),
        ("the version of the config is out of date", ""),
        ("vllm version 1.0 has no such flag", ""),
        ("my-transformers>=5 is not what is meant", ""),
        ("your version of torch is too old", "Requires-Dist: torch==2.9.1\n"),
        ("your version of torch is too old", "Requires-Dist: torch (==2.9.1) ; sys_platform == 'linux'\n"),
    ],
)
def test_a_refusal_of_something_else_is_one(tmp_path: Path, message: str, metadata: str) -> None:
    assert of_version(message, tmp_path, metadata).outcome.kind == "refused"


def test_a_range_is_no_pin(tmp_path: Path) -> None:
    found = of_version("your version of torch is too old", tmp_path, "Requires-Dist: torch<3,>=2.9\n")
    assert found.outcome.kind == "unclear"
