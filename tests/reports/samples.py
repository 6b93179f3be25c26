"""Results that the tests of the reports print: the first is the example of the README."""

from __future__ import annotations

from typing import Any

from gonogo.check.result import Because, CheckResult, LaunchResult, WorldResult
from gonogo.dryrun.outcome import Error, Site
from gonogo.launches.types import Source

STAGES = {"arguments": "passed", "configuration": "passed"}

FAST_PREFILL = Error(
    id="0123456789abcdef",
    type="ValueError",
    wrapped_by=("ValidationError",),
    message="Fast prefill optimization for KV sharing is not compatible with EAGLE as EAGLE requires correct logits "
    "for all tokens while fast prefill gives incorrect logits for prompt tokens.",
    site=Site("vllm/config/vllm.py", 2023, "VllmConfig.__post_init__"),
)


def world(**changed: Any) -> WorldResult:
    """One world of eight H100 that passed, but for what is ``changed``."""
    made: dict[str, Any] = {
        "release": "0.33.0",
        "release_from": "newest",
        "gpu": "H100-80GB",
        "count": 8,
        "nodes": 1,
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "outcome": "passed",
        "stages": STAGES,
    }
    return WorldResult(**{**made, **changed})


def refused(**changed: Any) -> WorldResult:
    """The same, refused for fast prefill."""
    stages = {"arguments": "passed", "configuration": "refused"}
    return world(**{"outcome": "refused", "error": FAST_PREFILL, "stages": stages, **changed})


def launch(verdict: str, *worlds: WorldResult, **changed: Any) -> LaunchResult:
    """One launch from the command line that fared so in these worlds."""
    made: dict[str, Any] = {
        "source": Source(),
        "argv": ("vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct"),
        "env": {},
        "engine": "vllm",
        "verdict": verdict,
        "decided_by": None,
        "assumed": ("release: newest", "model facts: meta-llama/Llama-3.1-8B-Instruct from the hub cache"),
        "not_checked": ("weights", "kernels", "network"),
        "worlds": worlds,
    }
    return LaunchResult(**{**made, **changed})


def check(verdict: Any, *launches: LaunchResult) -> CheckResult:
    """A check of these launches."""
    return CheckResult(verdict, launches)


README = check("NO-GO", launch("NO-GO", refused()))

EVERYTHING = check(
    "NO-GO",
    launch(
        "NO-GO",
        refused(
            because=(
                Because("flag", "--kv-sharing-fast-prefill", True, "user"),
                Because("flag", "speculative_config.method", "eagle", "resolved"),
            ),
            warnings=("one",),
            resolved={"attention_backend": "FLASH_ATTN"},
            depends_on=("ray",),
        ),
        source=Source("compose.yaml", 12),
        env={"VLLM_USE_V1": "1"},
        decided_by="gpu",
        fixes=(
            {
                "argv": ["vllm", "serve"],
                "env": {},
                "changes": [{"do": "remove", "flag": "--kv-sharing-fast-prefill", "value": None}],
                "verdict": "GO",
            },
        ),
    ),
    launch("HOLD", world(outcome="unclear", reason="the engine asked for tokenizer.json")),
    launch("GO", world()),
)
