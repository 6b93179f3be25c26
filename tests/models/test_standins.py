from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from gonogo.models import standins
from gonogo.models.identity import identity
from gonogo.models.standins import SHAPES, stand_ins

# Names as the registries of vllm 0.33.0 and sglang 0.5.23 have them; the types as transformers 5 has them.
KNOWN = {
    "dense": ("LlamaForCausalLM", "llama"),
    "moe": ("Qwen3MoeForCausalLM", "qwen3_moe"),
    "mla": ("DeepseekV3ForCausalLM", "deepseek_v3"),
    "hybrid": ("Qwen3NextForCausalLM", "qwen3_next"),
    "multimodal": ("Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl"),
}
BENCH = Path(__file__).parents[2] / "bench/make_standins.py"


def contents(shape: str) -> dict[str, Any]:
    (facts,) = (facts for facts in stand_ins("acme/secret") if facts.stand_in == shape)
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in facts.files.items()}


def test_all_shapes() -> None:
    found = stand_ins("acme/secret")
    assert tuple(facts.stand_in for facts in found) == SHAPES == tuple(KNOWN)
    assert {facts.name for facts in found} == {"acme/secret"}
    assert {facts.origin for facts in found} == {"stand-in"}
    assert len({identity(facts) for facts in found}) == len(SHAPES)
    for facts in found:
        assert facts.listed is not None
        assert set(facts.files) | {"model.safetensors"} == facts.listed


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_a_model_that_engines_know(shape: str) -> None:
    config = contents(shape)["config.json"]
    assert (*config["architectures"], config["model_type"]) == KNOWN[shape]
    assert config["max_position_embeddings"] >= 131072
    for key in ("num_attention_heads", "num_key_value_heads", "hidden_size", "intermediate_size"):
        assert config[key] % 8 == 0, key
    for key in ("num_attention_heads", "hidden_size", "intermediate_size"):
        assert config[key] % 16 == 0, key
    assert "auto_map" not in config


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shapes_tokenizer_has_the_tokens_that_its_config_names(shape: str) -> None:
    files = contents(shape)
    config, vocabulary = files["config.json"], files["tokenizer.json"]["model"]["vocab"]
    eos = config["eos_token_id"] if isinstance(config["eos_token_id"], list) else [config["eos_token_id"]]
    tokens = files["tokenizer_config.json"]
    assert vocabulary[tokens["eos_token"]] in eos
    assert vocabulary[tokens["bos_token"]] == config["bos_token_id"]
    assert tokens["pad_token"] in vocabulary
    assert set(eos) <= set(vocabulary.values())
    assert len(set(vocabulary.values())) == len(vocabulary)
    assert max(vocabulary.values()) < config["vocab_size"]
    special = {token["content"]: token["id"] for token in files["tokenizer.json"]["added_tokens"]}
    assert special.items() <= vocabulary.items()
    assert len(vocabulary) - len(special) == 256
    ids = [value for key, value in config.items() if key.endswith(("image_token_id", "video_token_id"))]
    assert set(ids) <= set(special.values())


def test_only_the_multimodal_one_has_eyes() -> None:
    assert [shape for shape in SHAPES if "preprocessor_config.json" in contents(shape)] == ["multimodal"]


def test_the_shapes_are_what_their_script_writes(tmp_path: Path) -> None:
    script = runpy.run_path(str(BENCH))
    script["main"].__globals__["SHAPES"] = tmp_path
    script["main"]()
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.json")}
    folder = Path(standins.__file__).with_name("shapes")
    assert written == {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
