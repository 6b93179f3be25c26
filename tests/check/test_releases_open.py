from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gonogo.check.releases_open import ReleaseChoice, choose_releases, packages_assumed
from gonogo.hardware.parse import parse_hardware
from gonogo.launches import Launch, read_command
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.releases import Release, Releases
from gonogo.releases.index import ReleaseInfo
from gonogo.releases.types import Beside, Installed


class Known(Releases):
    """Releases of which only a listing is known, and what is installed."""

    def __init__(self, installed: str | Exception | None = None) -> None:
        super().__init__(Path("/nowhere"))
        self._installed = installed

    def known(self, engine: str) -> list[ReleaseInfo]:
        rows = [("1.4.0rc1", True, False), ("1.3.0", False, False), ("1.2.1", False, True), ("1.2.0", False, False)]
        rows += [("1.1.0", False, False), ("1.0.0", False, False)]
        return [ReleaseInfo(engine, version, pre, yanked, "", None, ()) for version, pre, yanked in rows]

    def newest(self, engine: str) -> str:
        return "1.3.0"

    def installed(self, engine: str) -> str | None:
        if isinstance(self._installed, Exception):
            raise self._installed
        return self._installed

    def take(self, engine: str, folder: Path) -> str:
        return f"1.1.1.dev1@{folder}"


LAUNCH = read_command(["vllm", "serve", "x"])
NEWEST = ReleaseChoice(("1.3.0",), "newest", ("release: newest",))


def choose(launch: Launch, option: str | Path | None = None, installed: str | Exception | None = None) -> ReleaseChoice:
    return choose_releases(launch, option, Known(installed))


def test_the_newest_is_an_assumption() -> None:
    assert choose(LAUNCH) == NEWEST
    assert choose(LAUNCH, "vllm") == NEWEST


def test_the_option_comes_first() -> None:
    in_image = replace(LAUNCH, release="vllm==1.2.0", image="vllm/vllm-openai:v1.2.0")
    assert choose(in_image, "vllm==1.0.0", "1.1.0@x") == ReleaseChoice(("1.0.0",), "option")
    assert choose(in_image, None, "1.1.0@x") == ReleaseChoice(("1.2.0",), "image")
    assert choose(LAUNCH, None, "1.1.0@x") == ReleaseChoice(("1.1.0@x",), "installed", ("release: installed",))
    assert choose(LAUNCH, "vllm", "1.1.0@x") == NEWEST


@pytest.mark.parametrize("option", ["./checkout", "/srv/checkout", Path("checkout")])
def test_a_folder(option: str | Path) -> None:
    assert choose(LAUNCH, option) == ReleaseChoice((f"1.1.1.dev1@{Path(option)}",), "option")


def test_an_installed_one_that_cannot_be_read_is_not_passed_over() -> None:
    """The newest would be another release than the one that is going to be started."""
    with pytest.raises(OwnProblem, match="cannot read it; it is the installed vllm, --release names another one"):
        choose(LAUNCH, None, OwnProblem("cannot read it"))


def test_what_is_installed_says_nothing_of_a_moving_image() -> None:
    choice = choose(replace(LAUNCH, image="vllm/vllm-openai:latest"), None, "1.0.0@x")
    assert choice.versions == ("1.3.0", "1.2.0", "1.1.0")  # no pre-release, nothing withdrawn
    assert choice.chosen_by == "image"
    assert choice.assumed == ("release: vllm/vllm-openai:latest does not say which; tried 1.3.0, 1.2.0, 1.1.0",)


def test_an_option_for_another_engine() -> None:
    with pytest.raises(UsageProblem, match="--release sglang==1 does not fit the launch, which starts vllm"):
        choose(LAUNCH, "sglang==1")


def release(version: str, **changed: Any) -> Release:
    place, day = Path("/nowhere"), datetime(2026, 1, 1, tzinfo=UTC)
    return Release("vllm", version, place, "", day, place, place, {}, "", **changed)


def test_packages_of_an_installed_release() -> None:
    gpus = parse_hardware("H100"), parse_hardware("MI300X")
    found = release("1.0", installed=Installed("nvidia", {"torch": Beside("2.9", (), ()), "ray": Beside("2", (), ())}))
    beside = "packages: the 2 that are installed beside vllm"
    image = "packages: for amd those of the official image, as it is installed for nvidia"
    assert packages_assumed(release("1.0"), gpus) == []
    assert packages_assumed(found, gpus[:1]) == [beside]
    assert packages_assumed(found, gpus) == [beside, image]
    assert packages_assumed(found, gpus[1:]) == [image]
