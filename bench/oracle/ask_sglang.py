#!/usr/bin/env python
"""Ask the real SGLang what it makes of a launch: no weights, no server, no GPU work.

    PYTHON_OF_THE_ENVIRONMENT ask_sglang.py [options] < launches.jsonl > answers.jsonl

Input and output are those of ask_vllm.py; argv is what follows ``python -m sglang.launch_server``, or begins with
``serve MODEL``. The argument stage is ``prepare_server_args()``; the configuration stage is what the launcher does with
its result before it starts processes: ``resolve_once()`` and ``check_server_args()``, where a release has them.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import asking
from exceptions import describe, listen_to_parser

_RESOLVED = (
    "attention_backend prefill_attention_backend decode_attention_backend sampling_backend grammar_backend dtype "
    "quantization kv_cache_dtype context_length mem_fraction_static max_running_requests max_total_tokens "
    "chunked_prefill_size max_prefill_tokens page_size schedule_policy disable_radix_cache disable_cuda_graph "
    "cuda_graph_max_bs cuda_graph_config enable_mixed_chunk disable_overlap_schedule tp_size pp_size dp_size ep_size "
    "nnodes enable_dp_attention moe_runner_backend moe_a2a_backend speculative_algorithm speculative_num_steps "
    "speculative_eagle_topk speculative_num_draft_tokens speculative_draft_model_path enable_lora max_lora_rank "
    "disaggregation_mode enable_hierarchical_cache device load_format served_model_name stream_interval "
    "tool_call_parser reasoning_parser watchdog_timeout random_seed"
)
_MODULES = ("sglang.srt.server_args", "sglang.srt.arg_groups.pipeline", "sglang.srt.plugins")


def _resolved(server_args: Any, argv: list[str]) -> dict[str, str]:
    """Some fifty settled values as text; what this release does not have is left out."""
    if hasattr(server_args, "resolved_dict"):
        values = server_args.resolved_dict()
    else:
        values = {name: getattr(server_args, name) for name in _RESOLVED.split() if hasattr(server_args, name)}
    kept = {name: str(values[name]) for name in _RESOLVED.split() if name in values}
    if not any(word.startswith("--random-seed") for word in argv):
        kept.pop("random_seed", None)  # drawn anew in every launch
    return kept


def _words(argv: list[str]) -> list[str]:
    """What the launcher's parser gets."""
    words = argv[1:] if argv[:1] == ["serve"] else argv
    return ["--model-path", *words] if words and not words[0].startswith("-") else list(words)


def ask(argv: list[str], env: dict[str, str]) -> asking.Answer:
    """The answer for one launch, in this process, which is not fit for another one afterwards."""
    os.environ.update(env)
    answer = {**asking.blank(), "stage": "arguments"}
    warnings, said = asking.listen_to_log("sglang"), listen_to_parser()
    words = _words(argv)
    sys.argv = ["sglang.launch_server", *words]
    started = time.monotonic()
    try:
        if "sglang.srt.plugins" in sys.modules:
            sys.modules["sglang.srt.plugins"].load_plugins()
        from sglang.srt.server_args import prepare_server_args

        server_args = prepare_server_args(words)
        answer["stage"] = "configuration"
        for step in ("resolve_once", "check_server_args"):
            if hasattr(server_args, step):
                getattr(server_args, step)()
        answer["resolved"] = _resolved(server_args, words)
    except SystemExit as error:
        if error.code in (0, None):
            answer["note"] = "exit 0"
        else:
            answer.update(describe(error, said, "sglang"))
    except BaseException as error:  # noqa: BLE001  whatever the engine throws is the answer
        answer.update(describe(error, said, "sglang"))
    answer.update(warnings=list(warnings), seconds=round(time.monotonic() - started, 3))
    return answer


if __name__ == "__main__":
    asking.main(asking.Judge("sglang", _MODULES, ask, os.path.abspath(__file__), __doc__ or ""))
