"""Negative controls on real engines: a fact of the hardware is taken away, and what needs it must say so.

The tests of tests/dryrun/test_decisions.py show the mechanism on code written for it; here engines decide what matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gonogo.dryrun import DryRuns, World
from gonogo.dryrun.answer import outcome_of
from gonogo.dryrun.outcome import Outcome
from gonogo.hardware.parse import parse_hardware
from gonogo.launches import read_line
from gonogo.models.find import Models
from gonogo.releases import Releases

pytestmark = pytest.mark.engines

DATA = Path(__file__).parents[1] / "data"
VLLM = ("vllm", "0.33.0", "vllm serve models/tiny-llama")
SGLANG = ("sglang", "0.5.23", "python -m sglang.launch_server --model-path models/tiny-llama")
NO_KV_CACHE = "--prefill-only-disable-kv-cache --is-embedding --chunked-prefill-size -1 --disable-radix-cache"
Engine = tuple[str, str, str]


@pytest.fixture(scope="module")
def runs() -> Iterator[DryRuns]:
    with DryRuns(backends=False) as made:
        yield made


def outcome(runs: DryRuns, engine: Engine, gpu: str, words: str, withheld: str | None = None) -> Outcome:
    name, version, command = engine
    world = World(
        Releases().get(name, version), parse_hardware(gpu), withheld=frozenset({withheld} if withheld else ())
    )
    answer = runs.answer(read_line(f"{command} {words}"), world, Models(folder=DATA, hub=False))
    return outcome_of(answer, world)


@pytest.mark.parametrize(
    ("engine", "gpu", "words", "kind"),
    [
        (VLLM, "H100-80GB:2", "--tensor-parallel-size 4", "refused"),
        (SGLANG, "A100-80GB:1", NO_KV_CACHE, "refused"),
        (SGLANG, "H100-80GB:1", NO_KV_CACHE, "passed"),
    ],
)
def test_with_all_facts_the_engine_is_believed(runs: DryRuns, engine: Engine, gpu: str, words: str, kind: str) -> None:
    found = outcome(runs, engine, gpu, words)
    assert (found.kind, found.depends_on) == (kind, ())


@pytest.mark.parametrize(
    ("engine", "gpu", "words", "fact"),
    [
        (VLLM, "H100-80GB:2", "--tensor-parallel-size 4", "count"),
        (VLLM, "H100-80GB:2", "--tensor-parallel-size 4", "capability"),
        (VLLM, "H100-80GB:2", "--tensor-parallel-size 4", "vendor"),
        (SGLANG, "A100-80GB:1", NO_KV_CACHE, "capability"),
        (SGLANG, "H100-80GB:1", NO_KV_CACHE, "capability"),
        (SGLANG, "cpu", "--device cpu", "ram"),
    ],
)
def test_an_outcome_that_needs_a_fact_is_none_without_it(
    runs: DryRuns, engine: Engine, gpu: str, words: str, fact: str
) -> None:
    found = outcome(runs, engine, gpu, words, fact)
    assert found.kind == "unclear"
    assert f"withheld: {fact}" in (found.reason or "")


def test_a_tool_that_cannot_know_is_named(runs: DryRuns) -> None:
    found = outcome(runs, SGLANG, "A100-80GB:1", NO_KV_CACHE, "memory")
    assert found.kind == "unclear"
    assert "nvidia-smi --query-gpu=memory.total" in (found.reason or "")


@pytest.mark.parametrize("fact", ["memory", "ram"])
def test_an_outcome_that_does_not_need_a_fact_stays(runs: DryRuns, fact: str) -> None:
    words = "--tensor-parallel-size 4"
    found = outcome(runs, VLLM, "H100-80GB:2", words, fact)
    assert found.kind == "refused"
    assert found.error == outcome(runs, VLLM, "H100-80GB:2", words).error


def test_resolved_values_that_need_a_fact_are_not_told_without_it(runs: DryRuns) -> None:
    # EngineArgs.get_batch_defaults looks at the memory of the GPU.
    whole, without = (outcome(runs, VLLM, "H100-80GB:1", "", fact) for fact in (None, "memory"))
    assert (whole.kind, without.kind) == ("passed", "passed")
    gone = set(whole.resolved) - set(without.resolved)
    assert "scheduler_config.max_num_batched_tokens" in gone
    assert all(whole.resolved[name] == value for name, value in without.resolved.items())
