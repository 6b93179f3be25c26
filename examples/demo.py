#!/usr/bin/env python
"""Show gonogo on launches that real engines refuse, and on the same launches put right.

    make demo

Runs `gonogo check` on vLLM 0.33.0 and SGLang 0.5.23 (fetched from the package index the first time) with the model
facts in examples/models. A NO-GO ends with exit code 1 by design, so each verdict is compared with the one announced
here: this script ends with 0 if all are as announced.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_CODES = {"GO": 0, "NO-GO": 1}

_MODEL = "meta-llama/Llama-3.1-8B-Instruct"
_SPECULATION = '{"method":"eagle","model":"yuhuili/EAGLE-LLaMA3.1-Instruct-8B","num_speculative_tokens":3}'
_PREFILL_ONLY = "--is-embedding --chunked-prefill-size -1 --disable-radix-cache --prefill-only-disable-kv-cache"


@dataclass(frozen=True)
class Step:
    """One check: what it shows, its hardware, the launch, and the verdict that it must come to."""

    shows: str
    release: str
    gpu: str
    launch: str
    verdict: str


STEPS = (
    Step(
        "EAGLE and fast prefill: vLLM knows both, and refuses them together.",
        "vllm==0.33.0",
        "H100-80GB:8",
        f"vllm serve {_MODEL} --kv-sharing-fast-prefill --speculative-config '{_SPECULATION}'",
        "NO-GO",
    ),
    Step(
        "The same launch without the one flag.",
        "vllm==0.33.0",
        "H100-80GB:8",
        f"vllm serve {_MODEL} --speculative-config '{_SPECULATION}'",
        "GO",
    ),
    Step(
        "Prefill without a KV cache needs FlashAttention; but SGLang asks for something else first.",
        "sglang==0.5.23",
        "A100-80GB:1",
        f"python -m sglang.launch_server --model-path {_MODEL} --prefill-only-disable-kv-cache --attention-backend fa3",
        "NO-GO",
    ),
    Step(
        "With all that it asks for, an A100 still gets a backend that cannot do it ...",
        "sglang==0.5.23",
        "A100-80GB:1",
        f"python -m sglang.launch_server --model-path {_MODEL} {_PREFILL_ONLY}",
        "NO-GO",
    ),
    Step(
        "... and the same words are fine on an H100.",
        "sglang==0.5.23",
        "H100-80GB:1",
        f"python -m sglang.launch_server --model-path {_MODEL} {_PREFILL_ONLY}",
        "GO",
    ),
)


def main() -> int:
    print("No GPU, no weights and no engine installed: gonogo runs the engines' own start-up code on pretend hardware.")
    print("The first run fetches two releases, which takes minutes; they are kept for the next.", flush=True)
    others = 0
    for number, step in enumerate(STEPS, 1):
        options = ["--release", step.release, "--gpu", step.gpu, "--models-dir", "examples/models"]
        print(f"\n{number}. {step.shows}\n\n$ gonogo check {shlex.join(options)} -- \\\n    {step.launch}", flush=True)
        command = [sys.executable, "-m", "gonogo", "check", *options, "--", *shlex.split(step.launch)]
        code = subprocess.run(
            command, cwd=_HERE.parent, env={**os.environ, "HF_HUB_OFFLINE": "1"}, check=False
        ).returncode
        print(f"(exit code {code})", flush=True)
        if code != _CODES[step.verdict]:
            others += 1
            print(f"This was to be {step.verdict}, exit code {_CODES[step.verdict]}.")
    if others:
        print(f"\n{others} of {len(STEPS)} verdicts are not as announced.")
        return 1
    print("\nAll verdicts are as announced. Each NO-GO is the engine's own, here without its GPU.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
