"""An outcome depends on a decision if and only if the other answer changes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gonogo.dryrun import DryRuns, World
from tests.dryrun.tiny_world import Runs, make_world

PAGE = """
import torch

AT_IMPORT = bool(torch.some_library.flag_one())
NOT_USED = bool(torch.some_library.flag_two())


def knows_all():
    return {"size": 4}

def truth_decides():
    if torch.some_library.has_it():
        raise ValueError("it has it")

def truth_is_asked_for_nothing():
    word = "yes" if torch.some_library.has_it() else "no"
    return {"size": 4}

def one_of_two():
    if torch.some_library.first():
        pass
    if torch.some_library.second():
        raise ValueError("second")

def both_ways_refuse():
    size = 8 if torch.some_library.has_it() else 4
    raise ValueError("refused anyway")

def two_ways_to_refuse():
    if torch.some_library.has_it():
        raise ValueError("this way")
    raise ValueError("that way")

def compares():
    if torch.some_library.version > 3:
        raise ValueError("too new")

def looks_in():
    if "flash" in torch.some_library.backends():
        raise ValueError("flash is there")

def goes_through():
    for backend in torch.some_library.backends():
        raise ValueError("there is one")

def probes():
    if not hasattr(torch.some_library, "special"):
        raise ValueError("no special")

def imports():
    try:
        import triton.special
    except ImportError:
        raise ValueError("no special triton")

def swallows():
    try:
        import triton.special
    except ImportError:
        pass

def size_hangs_on_it():
    return {"size": 8 if torch.some_library.has_it() else 4, "name": "tiny"}

def unknown_in_the_message():
    raise ValueError(f"no room for {torch.some_library.size()}")

def decided_while_loaded():
    if AT_IMPORT:
        raise ValueError("at import")
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("decisions"), PAGE)


@pytest.fixture(scope="module")
def runs(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    runs = Runs(world, tmp_path_factory.mktemp("models"))
    yield runs
    runs.close()


@pytest.fixture(autouse=True)
def nothing_matters_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which decisions matter at import is found by a battery of launches, that of real engines; tests here say it."""
    monkeypatch.setattr(DryRuns, "that_matter_at_import", lambda *_args: [])


@pytest.fixture
def all_matter_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DryRuns, "that_matter_at_import", DryRuns.decisions_at_import)


@pytest.mark.parametrize("name", ["knows_all", "truth_is_asked_for_nothing", "both_ways_refuse", "swallows"])
def test_what_no_answer_changes_depends_on_nothing(runs: Runs, name: str) -> None:
    outcome = runs.outcome(name)
    assert (outcome.kind, outcome.depends_on) == ("refused" if name == "both_ways_refuse" else "passed", ())


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("truth_decides", "truth torch.some_library.has_it()"),
        ("two_ways_to_refuse", "truth torch.some_library.has_it()"),
        ("one_of_two", "truth torch.some_library.second()"),
        ("compares", "compare torch.some_library.version > 3"),
        ("looks_in", "in 'flash' in torch.some_library.backends()"),
        ("goes_through", "iterate torch.some_library.backends()"),
        ("probes", "hasattr torch.some_library.special"),
        ("imports", "import triton.special"),
    ],
)
def test_what_another_answer_changes_is_unclear_and_names_it(runs: Runs, name: str, decision: str) -> None:
    outcome = runs.outcome(name)
    assert outcome.kind == "unclear"
    line = next(number for number, text in enumerate(PAGE.splitlines(), 1) if name in text)
    (named,) = outcome.depends_on
    what, _, where = named.rpartition(" at vllm/page.py:")
    assert what == decision
    assert line < int(where) < line + 6
    assert named in (outcome.reason or "")


@pytest.mark.usefixtures("all_matter_at_import")
def test_the_same_for_what_was_decided_while_the_engine_was_loaded(runs: Runs) -> None:
    outcome = runs.outcome("decided_while_loaded")
    assert outcome.kind == "unclear"
    assert outcome.depends_on == ("truth torch.some_library.flag_one() at vllm/page.py:4",)
    assert runs.outcome("knows_all").depends_on == ()


def test_resolved_values_that_hang_on_a_decision_are_not_told(runs: Runs) -> None:
    outcome = runs.outcome("size_hangs_on_it")
    assert (outcome.kind, outcome.resolved) == ("passed", {"part.name": "tiny"})
    assert runs.outcome("knows_all").resolved == {"part.size": "4"}


def test_a_message_that_shows_a_stand_in_is_not_the_engines(runs: Runs) -> None:
    outcome = runs.outcome("unknown_in_the_message")
    assert outcome.kind == "unclear"
    assert "torch.some_library.size()" in (outcome.reason or "")


CONTROLS = """
import os
import torch


def capability():
    if torch.cuda.get_device_capability()[0] < 9:
        raise ValueError("too old")

def count():
    if torch.cuda.device_count() < 8:
        raise ValueError("too few")

def memory():
    if torch.cuda.get_device_properties(0).total_memory < 70 << 30:
        raise ValueError("too small")

def ram():
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 1 << 35:
        raise ValueError("too small a machine")

def vendor():
    if not torch.cuda.is_available():
        raise ValueError("no GPU")

def nothing():
    pass

def asks_a_tool():
    import subprocess
    text = subprocess.run(["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True).stdout
    if not text.split("\\n")[0].strip().isdigit():
        raise ValueError("nvidia-smi says nothing")
"""
FACTS = ["capability", "count", "memory", "ram", "vendor"]


def test_nothing_is_taken_away(tmp_path: Path) -> None:
    whole = Runs(make_world(tmp_path, CONTROLS), tmp_path)
    assert {name: whole.outcome(name).kind for name in FACTS} == dict.fromkeys(FACTS, "passed")
    whole.close()


@pytest.mark.usefixtures("all_matter_at_import")
@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_taken_away_is_named_by_what_needs_it_and_by_nothing_else(fact: str, tmp_path: Path) -> None:
    without = Runs(make_world(tmp_path, CONTROLS, withheld=frozenset({fact})), tmp_path)
    outcome, other = without.outcome(fact), without.outcome("nothing")
    without.close()
    assert outcome.kind == "unclear"
    assert f"withheld: {fact}" in (outcome.reason or "")
    assert (other.kind, other.depends_on) == ("passed", ())


def test_a_tool_says_nothing_of_memory_that_is_withheld(tmp_path: Path) -> None:
    runs = Runs(make_world(tmp_path, CONTROLS, withheld=frozenset({"memory"})), tmp_path)
    outcome = runs.outcome("asks_a_tool")
    runs.close()
    assert outcome.kind == "unclear"
    assert "nvidia-smi --query-gpu=memory.total" in (outcome.reason or "")
