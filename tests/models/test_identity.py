from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gonogo.models.identity import identity
from gonogo.models.types import ModelFacts, WeightFacts
from gonogo.problems import OwnProblem


def facts(tmp_path: Path, place: str = "a", content: str = "{}") -> ModelFacts:
    path = tmp_path / place
    path.write_text(content)
    return ModelFacts(
        name="org/m", origin="folder", files={"config.json": path}, listed=frozenset({"config.json", "x"})
    )


def test_the_same_facts_elsewhere_are_the_same(tmp_path: Path) -> None:
    one = facts(tmp_path)
    other = replace(facts(tmp_path, "b"), origin="hub", listed=frozenset({"x", "config.json"}))
    assert identity(one) == identity(other)
    assert len(identity(one)) == 64


def test_whatever_a_dry_run_sees_tells_them_apart(tmp_path: Path) -> None:
    one = facts(tmp_path)
    others = [
        replace(one, name="org/n"),
        replace(one, listed=None),
        replace(one, listed=frozenset()),
        replace(one, files={"tokenizer.json": one.files["config.json"]}),
        replace(one, files={}),
        replace(one, absent=frozenset({"y"})),
        replace(one, stand_in="moe"),
        replace(one, weights=WeightFacts(bytes=1)),
        facts(tmp_path, "b", "{ }"),
    ]
    assert len({identity(each) for each in [one, *others]}) == 1 + len(others)


def test_a_changed_file_is_seen(tmp_path: Path) -> None:
    one = facts(tmp_path)
    before = identity(one)
    one.files["config.json"].write_text("{ }")
    assert identity(one) != before
    one.files["config.json"].write_text("[]")
    os.utime(one.files["config.json"], ns=(1, 1))
    assert identity(one) != before


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    one = facts(tmp_path)
    one.files["config.json"].unlink()
    with pytest.raises(OwnProblem, match="can't be read any more"):
        identity(one)
