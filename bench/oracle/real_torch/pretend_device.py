"""The facts of a pretend device, put into the real CPU torch where a build for that device has C code of its own.

torch's Python is left to draw its conclusions (``torch.cuda.is_available``, ``device_count`` with its reading of
CUDA_VISIBLE_DEVICES, ``get_device_properties`` ...), so this says nothing that gonogo's stand-in for torch says too.
"""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from gonogo_inside import errors  # type: ignore[import-not-found]
from gonogo_inside.gpucount import gpu_count  # type: ignore[import-not-found]
from gonogo_inside.modules import AfterImport  # type: ignore[import-not-found]
from gonogo_inside.unknown import Unknown  # type: ignore[import-not-found]

Facts = dict[str, Any]


def install(facts: Facts) -> None:
    """Wait for torch's modules and put the facts into each as soon as it is there."""
    vendor = facts["gpu"]["vendor"]
    then: dict[str, Callable[[Any], None]] = {
        "torch.version": lambda m: _version(m, facts),
        "torch.cpu": lambda m: _cpu(m, facts),
        "torch": lambda m: _torch(m, facts),
    }
    if vendor != "cpu":
        then |= {
            "torch._C": lambda m: _runtime(m, facts),
            "torch.cuda": lambda m: _cuda(m, facts),
            "torch.distributed.distributed_c10d": lambda m: setattr(m, "_NCCL_AVAILABLE", True),
        }
    sys.meta_path.insert(0, AfterImport(then))
    # An AttributeError on an object of torch's is the engine's own mistake here: there is no stand-in for it.
    errors._from_fakes = lambda _value: False


def _version(m: Any, facts: Facts) -> None:
    m.__version__, m.cuda, m.hip = facts["torch"], facts["cuda"], facts["hip"]
    m.rocm = facts["rocm"]


def _cpu(m: Any, facts: Facts) -> None:
    flags = set(facts["host"]["cpu_flags"])
    spelled = {"avx512f": "avx512_f"}
    known = dict.fromkeys((spelled.get(flag, flag) for flag in flags), True)
    m.get_capabilities = lambda: types.MappingProxyType({"architecture": facts["host"]["machine"], **known})


def _torch(m: Any, facts: Facts) -> None:
    m.get_num_threads = lambda: facts["host"]["cpus"]
    _operators(m)


def _operators(torch: Any) -> None:
    """Operators of compiled extensions are there as soon as anybody asks: their extensions have stand-ins here.

    torch itself, which asks before it defines one, is told the truth. What one computes is not known.
    """
    namespace, packet = torch._ops._OpNamespace, torch._ops.OpOverloadPacket
    home = os.path.dirname(torch.__file__) + os.sep
    own = {name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names()}
    libraries: dict[str, Any] = {}
    made: set[str] = set()
    ordinary, ordinary_call = namespace.__getattr__, packet.__call__

    def find(self: Any, operator: str) -> Any:
        try:
            return ordinary(self, operator)
        except AttributeError:
            asking = sys._getframe(1).f_code.co_filename
            if operator.startswith("__") or self.name in own or asking.startswith(home):
                raise
        if self.name not in libraries:
            libraries[self.name] = torch.library.Library(self.name, "FRAGMENT")
        libraries[self.name].define(f"{operator}(...) -> ...")
        made.add(f"{self.name}::{operator}")
        return ordinary(self, operator)

    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self._qualified_op_name in made:
            return Unknown(f"torch.ops.{self!s}()")
        return ordinary_call(self, *args, **kwargs)

    namespace.__getattr__, packet.__call__ = find, call


def _visible_count() -> int:
    """What the driver counts: GPUs that the variables leave visible, by torch's own reading of them."""
    import torch

    visible = torch.cuda._parse_visible_devices()
    numbers = [index if isinstance(one, str) else one for index, one in enumerate(visible)]
    count = gpu_count()
    return next((index for index, number in enumerate(numbers) if number >= count), len(numbers))


def _runtime(m: Any, facts: Facts) -> None:
    """What a build for CUDA or ROCm has in torch._C, and a build for CPUs has not."""
    gpu = facts["gpu"]
    state = {"device": 0}

    def set_device(index: int) -> None:
        state["device"] = index

    def exchange(index: int) -> int:
        before = state["device"]
        if index >= 0:
            state["device"] = index
        return before

    for name, function in _device_functions(m):
        setattr(m, name, function)
    memory = (gpu["torch_memory_mib"] or gpu["memory_mib"]) << 20
    m._has_cuda = m._has_cudnn = True
    m._cuda_getDeviceCount = _visible_count
    m._cuda_isInBadFork = lambda: False
    m._cuda_getDevice = lambda: state["device"]
    m._cuda_setDevice = set_device
    m._cuda_exchangeDevice = m._cuda_maybeExchangeDevice = exchange
    m._cuda_getArchFlags = lambda: " ".join(facts["architectures"])
    m._cuda_getCompiledVersion = lambda: 13000
    m._cuda_canDeviceAccessPeer = lambda _one, _other: bool(gpu["nvlink"])
    m._cuda_get_cudnn_benchmark_limit, m._cuda_set_cudnn_benchmark_limit = lambda: 10, lambda _limit: None
    m._cudart = types.SimpleNamespace(
        cudaMemGetInfo=lambda _device: (memory, memory),
        cudaError=types.SimpleNamespace(success=0),
        cudaGetErrorString=lambda _code: "error",
    )
    m._cudnn = types.SimpleNamespace(
        getVersionInt=lambda: 91002,
        getRuntimeVersion=lambda: (9, 10, 2),
        getCompileVersion=lambda: (9, 10, 2),
        is_cuda=gpu["vendor"] == "nvidia",
    )
    m._accelerator_getAccelerator = m._get_accelerator = lambda *_check: m.device("cuda")
    m._accelerator_getDeviceIndex = lambda: state["device"]
    m._accelerator_setDeviceIndex = set_device


def _device_functions(m: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions that torch._C declares and that only a build for devices has; what they compute is not known."""
    declared = os.path.join(os.path.dirname(m.__file__), "_C", "__init__.pyi")
    with open(declared, encoding="utf-8") as file:
        found = re.findall(r"^def (_cuda_\w+)\(.*?\) -> ([^:\n]+): \.\.\.", file.read(), re.MULTILINE | re.DOTALL)
    for name, result in found:
        value = None if result == "None" else Unknown(f"torch._C.{name}()")
        yield name, lambda *_args, value=value, **_kwargs: value


def _cuda(m: Any, facts: Facts) -> None:
    """What torch's C code puts into torch.cuda when it starts, and what it asks the driver's own library."""
    gpu = facts["gpu"]
    major, minor = gpu["capability"]

    def properties(_index: int) -> Any:
        return types.SimpleNamespace(
            name=gpu["device_name"],
            major=major,
            minor=minor,
            total_memory=(gpu["torch_memory_mib"] or gpu["memory_mib"]) << 20,
            multi_processor_count=gpu["sm_count"],
            is_integrated=int(gpu["integrated"]),
            is_multi_gpu_board=0,
            warp_size=gpu["warp_size"],
            gcnArchName=f"{gpu['gfx']}:sramecc+:xnack-" if gpu["gfx"] else "",
            shared_memory_per_block=48 << 10 if gpu["vendor"] == "nvidia" else 64 << 10,
            shared_memory_per_block_optin=gpu["shared_memory_per_block_optin"],
            shared_memory_per_multiprocessor=gpu["shared_memory_per_block_optin"] + (1 << 10),
            regs_per_multiprocessor=65536,
            max_threads_per_multi_processor=2048,
            max_threads_per_block=1024,
            L2_cache_size=gpu["l2_cache_bytes"],
            uuid="00000000-0000-0000-0000-000000000000",
            pci_bus_id=1,
            pci_device_id=0,
            pci_domain_id=0,
        )

    def initialize() -> None:
        m._get_device_properties = properties
        m.default_generators = tuple(m.torch.Generator() for _ in range(int(gpu_count())))

    m.torch._C._cuda_init = initialize
    m.graphs._cuda_isCurrentStreamCapturing = lambda: False
    # Whether a device can hold such a tensor is tried on it. All can, a T4 too.
    m._check_bf16_tensor_supported = lambda _device: True
    m._raw_device_count_nvml = gpu_count
    m._raw_device_uuid_nvml = lambda: [f"GPU-00000000-0000-0000-0000-{n:012d}" for n in range(gpu_count())]
    m.memory_allocated = m.memory_reserved = m.max_memory_allocated = lambda *_args: 0
