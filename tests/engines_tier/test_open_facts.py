"""What a launch leaves open, on a real release: models nobody knows, packages that may be installed, files elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gonogo import Checker, WorldResult

pytestmark = pytest.mark.engines

MODELS = Path(__file__).parents[2] / "examples" / "models"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    with Checker() as made:
        yield made


def checked(checker: Checker, command: str) -> tuple[str, WorldResult]:
    options: dict[str, Any] = {"release": "vllm==0.33.0", "gpu": "H100:8", "models_dir": MODELS, "hub": False}
    result = checker.check(command, **options)
    return result.verdict, result.launches[0].worlds[0]


def test_a_package_may_be_installed_where_no_image_is_named(checker: Checker) -> None:
    # vllm/v1/executor/ray_utils.py: assert_ray_available; requirements/cuda.txt of 0.33.0 does not name ray
    words = f"{LLAMA} --tensor-parallel-size 16 --distributed-executor-backend ray"
    verdict, world = checked(checker, f"vllm serve {words}")
    assert verdict == "HOLD"
    assert "whether the package ray is installed" in world.depends_on[0]
    verdict, world = checked(checker, f"docker run vllm/vllm-openai:v0.33.0 {words}")
    assert verdict == "NO-GO"
    assert world.error is not None
    assert "No module named 'ray'" in world.error.message


def test_a_refusal_before_a_model_s_list_of_files_matters_is_one(checker: Checker) -> None:
    # The release's own tests/v1/test_oracle.py asks for this refusal.
    verdict, world = checked(checker, f"""vllm serve {LLAMA} --speculative-config '{{"model": "{LLAMA}"}}'""")
    assert verdict == "NO-GO"
    assert world.error is not None
    assert "`num_speculative_tokens` was not provided" in world.error.message


def test_stand_ins_that_are_refused_for_different_reasons_are_no_refusal(checker: Checker) -> None:
    # Longer than any model is; how long the model may be stands in the message, and every shape has another length.
    verdict, world = checked(checker, "vllm serve nobody/knows-this --max-model-len 90000000")
    assert verdict == "HOLD"
    assert "each for a reason of its own" in str(world.reason)
    assert world.error is not None
    assert "is greater than the derived max_model_len" in world.error.message


def test_what_lies_in_an_object_store_is_not_known(checker: Checker) -> None:
    verdict, world = checked(checker, "vllm serve s3://bucket/model --load-format runai_streamer")
    assert verdict == "HOLD"
    assert "s3://bucket/model" in str(world.reason)


@pytest.mark.parametrize("release", ["vllm==0.33.0", "sglang==0.5.23"])
def test_a_model_s_own_configuration_class_has_a_stand_in(checker: Checker, tmp_path: Path, release: str) -> None:
    """One that nobody but the model's repository has; nothing of that is run, with or without --trust-remote-code."""
    facts = json.loads((MODELS / LLAMA / "config.json").read_text())
    facts |= {"model_type": "nobodys_own", "auto_map": {"AutoConfig": "configuration_nobody.NobodyConfig"}}
    (tmp_path / "nobody" / "own").mkdir(parents=True)
    (tmp_path / "nobody" / "own" / "config.json").write_text(json.dumps(facts))
    words = "vllm serve nobody/own" if release.startswith("vllm") else "sglang serve --model-path nobody/own"
    options: dict[str, Any] = {"release": release, "gpu": "H100:8", "models_dir": tmp_path, "hub": False}
    trusted = checker.check(f"{words} --trust-remote-code", **options)
    assert trusted.verdict == "GO", trusted
    assert any("NobodyConfig, code of the model's own" in note for note in trusted.launches[0].assumed)
    suspected = checker.check(words, **options)
    assert suspected.verdict == "NO-GO"
    error = suspected.launches[0].worlds[0].error
    assert error is not None
    assert "trust" in error.message
    # It keeps what the file says: vocabulary, heads and layers of the real model decide as before.
    refused = checker.check(
        f"{words} --trust-remote-code --{'tensor-parallel-size' if 'vllm' in release else 'tp'} 7", **options
    )
    assert refused.verdict == "NO-GO"
    world = refused.launches[0].worlds[0]
    assert world.error is not None
    assert world.error.site is not None
    # vllm/config/model.py: "Total number of attention heads (32) must be divisible ..."; SGLang asserts the same in its layer
    assert world.error.site.function in ("ModelConfig.verify_with_parallel_config", "LlamaAttention.__init__")
