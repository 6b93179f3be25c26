from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonogo.check.models_assumed import AssumedModels, assumptions
from gonogo.models.find import Models
from gonogo.models.standins import SHAPES


@pytest.fixture
def models(tmp_path: Path) -> Models:
    """A models folder with Acme/Rocket-8B, and nothing else anywhere."""
    folder = tmp_path / "models"
    (folder / "Acme" / "Rocket-8B").mkdir(parents=True)
    (folder / "Acme" / "Rocket-8B" / "config.json").write_text(json.dumps({"model_type": "llama"}))
    return Models(folder, hub=False, cache=tmp_path / "cache", folder=tmp_path, environ={"HF_HOME": str(tmp_path)})


def test_nothing_missing_is_nothing_assumed(models: Models) -> None:
    assert list(assumptions((), models)) == []


def test_a_path_that_means_one_model_of_the_folder(models: Models) -> None:
    ((word, assumed),) = assumptions(("/srv/weights/rocket-8b/",), models)
    assert word == "the model of that name in the models folder"
    facts = assumed.local("/srv/weights/rocket-8b/")
    assert facts is not None
    assert json.loads(facts.files["config.json"].read_text()) == {"model_type": "llama"}
    assert models.local("/srv/weights/rocket-8b/") is None


def test_an_unknown_model_is_every_shape(models: Models) -> None:
    found = list(assumptions(("Nobody/Knows",), models))
    assert [word for word, _ in found] == [f"a stand-in: {shape}" for shape in SHAPES]
    kinds = set()
    for _, assumed in found:
        facts = assumed.facts("Nobody/Knows")
        assert facts is not None
        assert facts.name == "Nobody/Knows"
        kinds.add(json.loads(facts.files["config.json"].read_text())["model_type"])
    assert len(kinds) == len(SHAPES)


def test_one_name_that_is_known_does_not_settle_the_other(models: Models) -> None:
    found = list(assumptions(("/data/Rocket-8B", "Nobody/Draft"), models))
    assert len(found) == len(SHAPES)
    for _, assumed in found:
        known, open_ = assumed.facts("/data/Rocket-8B"), assumed.facts("Nobody/Draft")
        assert known is not None
        assert open_ is not None
        assert known.origin == "models folder"
        assert open_.origin == "stand-in"


def test_a_file_that_is_missing_is_no_model(models: Models) -> None:
    assert list(assumptions(("/etc/template.jinja", "ranks.json"), models)) == []


def test_what_is_known_stands_before_what_is_assumed(models: Models) -> None:
    (_, first), *_ = assumptions(("Acme/Rocket-8B",), Models(hub=False, environ={"HF_HOME": "/nowhere"}))
    stand_in = first.facts("Acme/Rocket-8B")
    assert stand_in is not None
    assert AssumedModels(models, {"Acme/Rocket-8B": stand_in}).facts("Acme/Rocket-8B") == models.facts("Acme/Rocket-8B")
