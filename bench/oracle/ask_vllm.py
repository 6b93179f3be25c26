#!/usr/bin/env python
"""Ask the real vLLM what it makes of a launch: no weights, no server, no GPU work.

    PYTHON_OF_THE_ENVIRONMENT ask_vllm.py [options] < launches.jsonl > answers.jsonl

Each input line is ``{"id": "7", "argv": ["serve", "MODEL", "--max-model-len", "1024"], "env": {"NAME": "value"}}``; the
words of an answer are told in tests/oracle/README.md. Every launch runs the real ``vllm.entrypoints.cli.main.main()``
in a forked child with two things replaced: the listening socket is not bound, and ``create_engine_config()`` ends the
run when it returns.

A variable that vLLM reads while it is imported is not seen by a fork: use --fresh for launches with such an env. A
launch that needs the network fails as it would offline; HF_HUB_OFFLINE=1 makes that quick.
"""

from __future__ import annotations

import enum
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import asking
from exceptions import describe, listen_to_parser

_RESOLVED = {
    "model_config": "dtype max_model_len quantization runner_type convert_type tokenizer_mode enforce_eager seed "
    "max_logprobs served_model_name generation_config",
    "cache_config": "block_size cache_dtype enable_prefix_caching gpu_memory_utilization kv_cache_memory_bytes "
    "prefix_caching_hash_algo",
    "scheduler_config": "max_num_batched_tokens max_num_seqs enable_chunked_prefill policy async_scheduling "
    "scheduler_cls disable_hybrid_kv_cache_manager",
    "parallel_config": "tensor_parallel_size pipeline_parallel_size data_parallel_size data_parallel_size_local "
    "enable_expert_parallel distributed_executor_backend worker_cls world_size",
    "compilation_config": "mode backend cudagraph_mode max_cudagraph_capture_size custom_ops",
    "speculative_config": "method num_speculative_tokens",
    "attention_config": "backend",
    "device_config": "device_type",
    "load_config": "load_format",
    "lora_config": "max_lora_rank max_loras lora_dtype",
    "structured_outputs_config": "backend reasoning_parser",
    "kv_transfer_config": "kv_connector kv_role",
}
_CLI = "vllm.entrypoints.cli."
_MODULES = (
    *(_CLI + name for name in ("main", "serve", "openai", "launch", "benchmark.main", "collect_env", "run_batch")),
    *(_CLI + name for name in ("download_kernels", "preload", "snapshot")),
)


class _Reached(BaseException):
    """The configuration stands. Not an Exception, so nothing on the way out takes it for a failure."""

    def __init__(self, config: Any, note: str | None = None) -> None:
        self.config = config
        self.note = note


def _resolved(config: Any) -> dict[str, str]:
    """Some forty settled values as text; what this release does not have is left out."""
    values: dict[str, str] = {}
    for section, names in _RESOLVED.items():
        part = getattr(config, section, None)
        for name in names.split() if part is not None else ():
            if hasattr(part, name):
                value = getattr(part, name)
                values[f"{section}.{name}"] = value.name if isinstance(value, enum.Enum) else str(value)
    with suppress(AttributeError):
        values["architectures"] = str(config.model_config.hf_config.architectures)
    return values


def _stop_at_the_edge(enter: Callable[[], None]) -> None:
    """Replace what would leave the dry run; ``enter`` is called when the configuration begins."""
    import vllm.entrypoints.cli.serve as serve
    from vllm.engine.arg_utils import AsyncEngineArgs

    ordinary = AsyncEngineArgs.create_engine_config

    def create_engine_config(self: Any, *args: Any, **kwargs: Any) -> None:
        enter()
        raise _Reached(ordinary(self, *args, **kwargs))

    AsyncEngineArgs.create_engine_config = create_engine_config
    for name, module in list(sys.modules.items()):
        if name.startswith("vllm.entrypoints"):
            for socket in ("create_server_socket", "create_server_unix_socket"):
                if socket in vars(module):
                    setattr(module, socket, lambda *_a, **_k: None)
    if hasattr(serve, "run_dp_supervisor"):

        def run_dp_supervisor(_args: Any) -> None:
            raise _Reached(None, "stopped where the multi-port supervisor would start its children")

        serve.run_dp_supervisor = run_dp_supervisor


def ask(argv: list[str], env: dict[str, str]) -> asking.Answer:
    """The answer for one launch, in this process, which is not fit for another one afterwards."""
    os.environ.update(env)
    answer = {**asking.blank(), "stage": "arguments"}
    warnings, said = asking.listen_to_log("vllm"), listen_to_parser()
    started = time.monotonic()
    try:
        _stop_at_the_edge(lambda: answer.update(stage="configuration"))
        sys.argv = ["vllm", *argv]
        from vllm.entrypoints.cli.main import main

        main()
        answer["note"] = "main() returned before create_engine_config()"
    except _Reached as reached:
        if reached.config is not None:
            answer["resolved"] = _resolved(reached.config)
        if reached.note:
            answer["note"] = reached.note
    except SystemExit as error:
        if error.code in (0, None):
            answer["note"] = "exit 0 before create_engine_config()"
        else:
            answer.update(describe(error, said, "vllm"))
    except BaseException as error:  # noqa: BLE001  whatever the engine throws is the answer
        answer.update(describe(error, said, "vllm"))
    answer.update(warnings=list(warnings), seconds=round(time.monotonic() - started, 3))
    return answer


if __name__ == "__main__":
    asking.main(asking.Judge("vllm", _MODULES, ask, os.path.abspath(__file__), __doc__ or ""))
