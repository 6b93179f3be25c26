"""Negative controls on real engines: a fact of the hardware is taken away, and what needs it must say so.

Each launch is judged twice: with the fact, where its outcome is the engine's own, and without, where there must be none.
A launch that does not need the fact must not change.
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

MODELS = Path(__file__).parents[1] / "data" / "models"
VLLM, SGLANG = ("vllm", "0.33.0"), ("sglang", "0.5.23")
#: Refused on the GPU named, by what the fact says.
NEEDS = [
    (SGLANG, "capability", "A100-80GB:1", "tiny-llama --prefill-only-disable-kv-cache --is-embedding"
     " --chunked-prefill-size -1 --disable-radix-cache", "refused"),
    (VLLM, "count", "H100-80GB:2", "tiny-llama --tensor-parallel-size 4", "refused"),
    (VLLM, "count", "H100-80GB:4", "tiny-llama --tensor-parallel-size 4", "passed"),
    (VLLM, "vendor", "H100-80GB:1", "tiny-llama", "passed"),
    (SGLANG, "vendor", "H100-80GB:1", "tiny-llama", "passed"),
    (SGLANG, "vendor", "MI300X:1", "tiny-llama --attention-backend fa3", "passed"),
]  # fmt: skip
