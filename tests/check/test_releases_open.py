from __future__ import annotations

import importlib.metadata
from dataclasses import replace

import pytest

from gonogo.check.releases_open import ReleaseChoice, choose_releases
from gonogo.launches import Launch, read_command
from gonogo.problems import UsageProblem
from gonogo.releases import Releases
from gonogo.releases.index import ReleaseInfo


class Known(Releases):
    """Releases of which only a listing is known."""

    def known(self, engine: str) -> list[ReleaseInfo]:
        rows = [("1.4.0rc1", True, False), ("1.3.0", False, False), ("1.2.1", False, True), ("1.2.0", False, False)]
        rows += [("1.1.0", False, False), ("1.0.0", False, False)]
        return [ReleaseInfo(engine, version, pre, yanked, "", None, ()) for version, pre, yanked in rows]

    def newest(self, engine: str) -> str:
        return "1.3.0"


LAUNCH = read_command(["vllm", "serve", "x"])
NEWEST = ReleaseChoice(("1.3.0",), "newest", ("release: newest",))


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is installed beside gonogo: nothing, unless a test says so."""
    there: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in there:
            raise importlib.metadata.PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    return there


def choose(launch: Launch, option: str | None = None) -> ReleaseChoice:
    return choose_releases(launch, option, Known())


def test_the_newest_is_an_assumption() -> None:
    assert choose(LAUNCH) == NEWEST
    assert choose(LAUNCH, "vllm") == NEWEST


def test_the_option_comes_first(installed: dict[str, str]) -> None:
    installed["vllm"] = "1.1.0"
    in_image = replace(LAUNCH, release="vllm==1.2.0", image="vllm/vllm-openai:v1.2.0")
    assert choose(in_image, "vllm==1.0.0") == ReleaseChoice(("1.0.0",), "option")
    assert choose(in_image) == ReleaseChoice(("1.2.0",), "image")
    assert choose(LAUNCH) == ReleaseChoice(("1.1.0",), "installed", ("release: installed",))
    assert choose(LAUNCH, "vllm") == NEWEST


def test_an_installed_build_is_its_release(installed: dict[str, str]) -> None:
    installed["vllm"] = "1.1.0+cu129"
    assert choose(LAUNCH).versions == ("1.1.0",)


def test_what_is_installed_says_nothing_of_a_moving_image(installed: dict[str, str]) -> None:
    installed["vllm"] = "1.0.0"
    choice = choose(replace(LAUNCH, image="vllm/vllm-openai:latest"))
    assert choice.versions == ("1.3.0", "1.2.0", "1.1.0")  # no pre-release, nothing withdrawn
    assert choice.chosen_by == "image"
    assert choice.assumed == ("release: vllm/vllm-openai:latest does not say which; tried 1.3.0, 1.2.0, 1.1.0",)


def test_an_option_for_another_engine() -> None:
    with pytest.raises(UsageProblem, match="--release sglang==1 does not fit the launch, which starts vllm"):
        choose(LAUNCH, "sglang==1")
