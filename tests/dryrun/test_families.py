"""Which families a release can serve, and which of them a name means: read in the texts of a release written here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gonogo.dryrun.families import families_named
from gonogo.dryrun.family_facts import family_stand_in
from gonogo.dryrun.preprocessor import stand_in_preprocessors
from gonogo.releases import Release
from tests.dryrun.tiny_world import make_world

REGISTRY = """
_TEXT_GENERATION_MODELS = {
    "RocketForCausalLM": ("rocket", "RocketForCausalLM"),
    "RocketMoeForCausalLM": ("rocket_moe", "RocketMoeForCausalLM"),
    "Rocket3_5ForCausalLM": ("rocket3_5", "Rocket3_5ForCausalLM"),
    "Rocket3ForCausalLM": ("rocket3", "Rocket3ForCausalLM"),
    "Rocket2_5_VLForConditionalGeneration": ("rocket_vl", "Rocket2_5_VLForConditionalGeneration"),
    "OwnForCausalLM": ("own", "OwnForCausalLM"),
}
"""
OWN = """
class OwnConfig:
    model_type = "own"
"""
TABLES = """
CONFIG_MAPPING_NAMES = OrderedDict([("rocket", "RocketConfig"), ("rocket_moe", "RocketMoeConfig"), ("rocket3", "C"),
    ("rocket3_5", "C"), ("rocket2_5_vl", "C"), ("plane", "PlaneConfig")])
MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = OrderedDict([("rocket", "RocketForCausalLM"), ("plane", "PlaneForCausalLM")])
MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES = {"rocket2_5_vl": "Rocket2_5_VLForConditionalGeneration"}
IMAGE_PROCESSOR_MAPPING_NAMES = OrderedDict([("rocket2_5_vl", (None, "RocketImageProcessorFast"))])
PROCESSOR_MAPPING_NAMES = OrderedDict([("rocket2_5_vl", "RocketVLProcessor"), ("rocket", "RocketProcessor")])
"""
ADDED = """
MISSING_VIDEO_PROCESSOR_MAPPING_NAMES = OrderedDict([("rocket2_5_vl", {"torchvision": "RocketVideoProcessor", "pil": None})])
"""


@pytest.fixture
def release(tmp_path: Path) -> Release:
    found = make_world(tmp_path, "").release
    auto = found.environment / "transformers" / "models" / "auto"
    auto.mkdir(parents=True)
    (auto / "auto_mappings.py").write_text(TABLES)
    (auto / "video_processing_auto.py").write_text(ADDED)
    (found.root / "vllm" / "model_executor" / "models" / "registry.py").write_text(REGISTRY)
    (found.root / "vllm" / "configs").mkdir()
    (found.root / "vllm" / "configs" / "own.py").write_text(OWN)
    return replace(found, environment=found.environment)


@pytest.mark.parametrize(
    ("name", "model_types"),
    [
        ("acme/Rocket-8B-Instruct", ["rocket", "rocket_moe"]),
        ("/srv/models/rocket-8b/", ["rocket", "rocket_moe"]),
        ("acme/Rocket-30B-A3B", ["rocket_moe"]),
        ("acme/Rocket2.5-VL-7B", ["rocket2_5_vl"]),
        ("acme/Rocket-2.5-VL-7B", ["rocket2_5_vl"]),
        ("acme/Rocket3-4B", ["rocket3"]),
        ("acme/Rocket3.6-4B", ["rocket3", "rocket3_5"]),
        ("acme/Rocket3.1-4B", ["rocket3"]),
        ("acme/Rocket-Small-3-24B", ["rocket", "rocket_moe", "rocket3"]),
        ("acme/EAGLE3-Rocket-8B", ["rocket", "rocket_moe", "rocket3"]),
        ("acme/Own-2B", ["own"]),
        ("acme/Plane-2B", []),
        ("acme/Sprocket-2B", []),
        ("acme/", []),
        ("", []),
    ],
)
def test_what_a_name_means(release: Release, name: str, model_types: list[str]) -> None:
    assert [family.model_type for family in families_named(name, release)] == model_types


def test_the_architecture_is_the_engines(release: Release) -> None:
    (family,) = families_named("acme/Rocket2.5-VL-7B", release)
    assert family.architecture == "Rocket2_5_VLForConditionalGeneration"


def test_a_stand_in_carries_what_engines_ask_for(release: Release, tmp_path: Path) -> None:
    (family,) = families_named("acme/Rocket2.5-VL-7B", release)
    facts = family_stand_in(family, "acme/Rocket2.5-VL-7B", release, tmp_path / "cache", 4096)
    assert facts is not None
    told = {name: json.loads(path.read_text()) for name, path in facts.files.items() if name != "tokenizer.json"}
    assert told["config.json"]["model_type"] == "rocket2_5_vl"
    assert "max_position_embeddings" not in told["config.json"]  # that of a part is not its own
    assert told["preprocessor_config.json"] == {
        "image_processor_type": "RocketImageProcessorFast",
        "processor_class": "RocketVLProcessor",
    }
    assert told["video_preprocessor_config.json"] == {"video_processor_type": "RocketVideoProcessor"}
    assert facts.listed == frozenset({*facts.files, "model.safetensors"})


def test_a_language_model_has_no_preprocessor_and_a_context(release: Release, tmp_path: Path) -> None:
    family = families_named("acme/Rocket-8B", release)[0]
    facts = family_stand_in(family, "acme/Rocket-8B", release, tmp_path / "cache", 4096)
    assert facts is not None
    assert json.loads(facts.files["config.json"].read_text())["max_position_embeddings"] == 4096
    assert not any("processor" in name for name in facts.files)


def test_a_config_that_says_nothing_of_its_kind(release: Release, tmp_path: Path) -> None:
    for content in ("{}", "[]", "no json", '{"model_type": 3}', '{"model_type": "unheard"}'):
        config = tmp_path / "config.json"
        config.write_text(content)
        assert stand_in_preprocessors(release.environment, config, tmp_path / "cache") == {}
