#!/usr/bin/env python
"""Tell on what machine and with which packages answers are given, as one JSON object.

    PYTHON_OF_THE_ENVIRONMENT tell_machine.py [OPTIONAL_PACKAGE ...]

Start-up code decides on these facts, so whoever compares with recorded answers must assume the same.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import shutil
import sys
from pathlib import Path

_OPTIONAL = (
    "IPython aiter amdsmi anthropic arctic_inference bitsandbytes blobfile cbor2 compressed_tensors conch cuda "
    "cutlass cv2 datasets dateutil decord deep_ep deep_gemm deepseek_recipe depyf diskcache distro easydict "
    "einops fastapi fastsafetensors flash_attn flash_mla flashinfer functorch gguf granian humming "
    "instanttensor interegular kernels librosa llguidance llvmlite lmcache lmformatenforcer mistral_common "
    "modelscope mooncake msgpack msgspec multipart nixl numba nvidia nvshmem nvtx openai openai_harmony "
    "opentelemetry outlines partial_json_parser prometheus_client py_spy pybase64 pynvml quack quark ray "
    "runai_model_streamer scipy sentencepiece setproctitle sgl_kernel smg_grpc_servicer soundfile tensorizer "
    "tiktoken tilelang timm tml_renderers tokenspeed_mla torch torch_memory_saver torchao torchaudio "
    "torchcodec torchgen torchvision triton triton_kernels tvm_ffi uvicorn uvloop vllm._C "
    "vllm._C_stable_libtorch vllm._flashmla_C vllm._flashmla_extension_C vllm._moe_C "
    "vllm._moe_C_stable_libtorch vllm._qutlass_C vllm._rocm_C vllm.cumem_allocator vllm.third_party.deep_gemm "
    "vllm.third_party.flashmla vllm.third_party.pynvml vllm.third_party.triton_kernels vllm.vllm_flash_attn "
    "watchfiles xformers xgrammar xxhash zstandard"
)
_PROGRAMS = ("nvidia-smi", "rocminfo", "amd-smi", "nvcc", "numactl", "lscpu", "ninja", "gcc", "g++", "cmake", "git")
_VARIABLES = ("VLLM", "SGL", "CUDA", "HF_", "TORCH", "RAY_", "OMP_", "NCCL")


def _found(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def main() -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    optional = sorted({*_OPTIONAL.split(), *sys.argv[1:]})
    json.dump(
        {
            "python": platform.python_version(),
            "system": platform.system(),
            "machine": platform.machine(),
            "cpus": os.cpu_count(),
            "cpus_allowed": len(os.sched_getaffinity(0)),
            "memory_bytes": memory,
            "numa_nodes": len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))),
            "cpu_flags": sorted(_cpu_flags() & {"avx2", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16"}),
            "open_files_limit": list(resource.getrlimit(resource.RLIMIT_NOFILE)),
            "locale": os.environ.get("LC_ALL") or os.environ.get("LANG"),
            "programs": {name: shutil.which(name) is not None for name in _PROGRAMS},
            "variables": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_VARIABLES)},
            "importable": {name: _found(name) for name in optional},
            "packages": {
                one.metadata["Name"]: one.version
                for one in sorted(importlib.metadata.distributions(), key=lambda one: one.metadata["Name"].lower())
            },
        },
        sys.stdout,
        indent=1,
    )
    print()


def _cpu_flags() -> set[str]:
    place = Path("/proc/cpuinfo")
    lines = place.read_text().splitlines() if place.exists() else []
    return {flag for line in lines if line.startswith("flags") for flag in line.split()}


if __name__ == "__main__":
    main()
