"""A refusal that comes of what nobody told, and not of the launch, is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gonogo.dryrun.fuller import with_lists
from gonogo.dryrun.openpackages import packages_named
from tests.dryrun.tiny_world import Runs, make_world

PAGE = """
import os
import torch

def fetches(location):
    torch.some_library.pull(location, "/tmp/fetched")
    if not os.path.isdir("/tmp/fetched"):
        raise ValueError("nothing was fetched")

def fetches_and_goes_on(location):
    torch.some_library.pull(location, "/tmp/fetched")

def reads(folder):
    if len(open(folder + "/model.safetensors", "rb").read(8)) < 8:
        raise ValueError("the weights are too short")

def asks_whether_they_are_there(folder):
    if os.path.exists(folder + "/model.safetensors"):
        raise ValueError("there are weights")

def wants_a_package(*_words):
    try:
        import arctic_inference
    except ImportError:
        raise ImportError("Arctic Inference is required: pip install arctic-inference==0.1") from None

def has_its_own_reason(*_words):
    try:
        import arctic_inference
    except ImportError:
        pass
    raise ValueError("array of rays")
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("world")
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text('{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}')
    (model / "model.safetensors").write_bytes(bytes(64))
    made = Runs(make_world(folder, PAGE), folder)
    yield made
    made.close()


def test_what_a_stand_in_was_to_fetch_is_not_known_to_be_missing(runs: Runs) -> None:
    found = runs.outcome("fetches s3://bucket/model")
    assert found.kind == "unclear"
    assert "s3://bucket/model was handed to a stand-in (torch.some_library.pull)" in str(found.reason)
    assert runs.outcome("fetches_and_goes_on s3://bucket/model").kind == "passed"
    assert runs.outcome("fetches here").kind == "refused"


def test_a_refusal_of_weights_without_content_is_none(runs: Runs) -> None:
    found = runs.outcome("reads model")
    assert found.kind == "unclear"
    assert any("model.safetensors" in each for each in found.depends_on)
    assert runs.outcome("asks_whether_they_are_there model").kind == "refused"


def test_packages_that_a_refusal_speaks_of_are_told(runs: Runs) -> None:
    answer = runs.answer("wants_a_package")
    assert (answer.words["outcome"], answer.words["lacks"]) == ("refused", ["arctic_inference"])
    assert runs.answer("has_its_own_reason").words["lacks"] == []


@pytest.mark.parametrize(
    ("said", "missing", "found"),
    [
        ("Failed to import Ray: No module named 'ray'.", ["ray", "torch_xla"], ["ray"]),
        ("the array has a tray", ["ray"], []),
        ("Arctic Inference is required", ["arctic_inference"], ["arctic_inference"]),
        ("pip install lm-format-enforcer", ["lmformatenforcer", "lm_format_enforcer"], ["lm_format_enforcer"]),
        ("see ray.io", ["ray"], ["ray"]),
        ("at vllm/ray/x", ["xray"], []),
    ],
)
def test_a_package_is_spoken_of_by_either_name(said: str, missing: list[str], found: list[str]) -> None:
    assert packages_named({"outcome": "refused", "root_message": said}, missing) == found
    assert packages_named({"outcome": "passed", "root_message": said}, missing) == []


def test_a_list_of_files_is_what_is_here_and_weights() -> None:
    models = {
        "a/b": {"files": {"config.json": "/x"}, "listed": None},
        "c/d": {"files": {}, "listed": ["config.json"]},
        "e/f": {"files": {}, "known": False},
    }
    filled = with_lists({"models": models, "args": []})["models"]
    assert filled["a/b"]["listed"] == ["config.json", "model.safetensors"]
    assert filled["c/d"] == models["c/d"]
    assert filled["e/f"] == models["e/f"]
