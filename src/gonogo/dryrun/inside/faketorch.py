"""A torch that describes pretend hardware: constants have torch's real values, all that computes is unknown.

Facts are torch's documented behaviour (torch.cuda, torch.library, version strings of its wheels).
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
import re
import types
import typing
from collections.abc import Callable
from typing import Any

from . import fakedistributed, fakeinit, fakenn, faketensors
from .fakenn import Module
from .faketensors import Size, Tensor
from .faketypes import ALIASES, DEFAULT, PLACE, device, dtype, finfo, iinfo
from .gpucount import any_gpu, gpu_count
from .unknown import Unknown, UnknownBase, as_the_real_one, described_attribute

#: The class, where a parameter has its name.
_DEVICE = device


class Generator(UnknownBase):
    """torch.Generator."""

    __module__ = "torch"


def decorator(*args: Any, **kwargs: Any) -> Any:
    """Something used bare or called, as decorator or context (``torch.no_grad``, ``torch.compile``)."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return _Wrapper()


class _Wrapper:
    def __call__(self, function: Any) -> Any:
        return function

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_args: Any) -> bool:
        return False


def _custom_op(name: Any = None, function: Any = None, **_kwargs: Any) -> Any:
    if isinstance(name, str):
        _DEFINED.add(name)

    def wrap(function: Any) -> Any:
        return _CustomOp(function)

    return wrap(function) if function is not None else wrap


class _CustomOp:
    """What torch.library.custom_op makes of a function."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", "custom_op")
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def register_fake(self, function: Any = None, /) -> Any:
        return function

    def register_kernel(self, *_args: Any, **_kwargs: Any) -> Any:
        return decorator()

    register_autograd = register_vmap = register_torch_dispatch = register_kernel


#: Operators that Python code has registered: "namespace::name" and "namespace::name.overload".
_DEFINED: set[str] = set()


class Operators:
    """torch.ops: every namespace exists; of operators those that Python registered, the compiled ones are not known."""

    def __getattr__(self, namespace: str) -> Any:
        if namespace.startswith("__"):
            raise AttributeError(namespace)
        made = _Namespace(namespace)
        self.__dict__[namespace] = made
        return made


class _Namespace:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, operator: str) -> Any:
        if operator.startswith("__"):
            raise AttributeError(operator)
        if f"{self._name}::{operator}" in _DEFINED:
            made = Unknown(f"torch.ops.{self._name}.{operator}")
            for each in list(_DEFINED):
                if each.startswith(f"{self._name}::{operator}."):
                    setattr(made, each.rpartition(".")[2], Unknown(f"torch.ops.{each}"))
            made.default = Unknown(f"torch.ops.{self._name}.{operator}.default")
            return made
        return described_attribute(self, operator, f"torch.ops.{self._name}")


class Library:
    """torch.library.Library: remembers which operators are defined."""

    def __init__(self, ns: Any = None, kind: Any = None, dispatch_key: Any = "") -> None:
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self.m = None

    def define(self, schema: str, *_args: Any, **_kwargs: Any) -> str:
        name = schema.split("(")[0]
        _DEFINED.update((f"{self.ns}::{name}", f"{self.ns}::{name.partition('.')[0]}"))
        return name

    def impl(self, *_args: Any, **_kwargs: Any) -> None:
        return None

    _register_fake = fallback = _destroy = _impl_with_aoti_compile = impl


_SCHEMA_TYPES = {
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    "Tensor": "Tensor",
    dtype: "ScalarType",
    device: "Device",
}


def infer_schema(function: Any, *_args: Any, mutates_args: Any = (), op_name: str | None = None) -> str:
    """torch.library.infer_schema, as far as names and kinds go."""

    def text(hint: Any) -> str:
        if hint in (None, type(None), inspect.Parameter.empty):
            return "()"
        if isinstance(hint, str):
            return "Tensor" if "Tensor" in hint else hint
        parts = typing.get_args(hint)
        if parts:
            some = [part for part in parts if part is not type(None) and part is not Ellipsis]
            if len(some) < len(parts) and typing.get_origin(hint) in (typing.Union, types.UnionType):
                return text(some[0]) + "?"
            if typing.get_origin(hint) is tuple:
                return "(" + ", ".join(text(part) for part in some) + ")"
            return text(some[0]) + "[]" if some else "Any"
        return _SCHEMA_TYPES.get(hint) or str(getattr(hint, "__name__", "Any"))

    signature = inspect.signature(function)
    hints = getattr(function, "__annotations__", {})
    parts = ", ".join(f"{text(hints.get(n, p.annotation))} {n}" for n, p in signature.parameters.items())
    return f"{op_name or ''}({parts}) -> {text(hints.get('return'))}"


def visible(count: int, vendor: str) -> int:
    """How many of ``count`` devices the variables leave visible, by torch's reading of them.

    UUIDs are taken for those of devices that are there: whoever names one has seen it.
    """
    chosen = _chosen(vendor)
    if chosen is None:
        return count
    if chosen.startswith(("GPU-", "MIG-")):
        named = list(itertools.takewhile(lambda name: name.startswith(chosen[:4]), chosen.split(",")))
        return len(named) if len(set(named)) == len(named) else 0
    numbers: list[int] = []
    for word in chosen.split(","):
        digits = re.match(r"[+-]?\d+", word.strip())
        number = int(digits[0]) if digits else -1
        if number in numbers:
            return 0
        if number < 0:
            break
        numbers.append(number)
    return next((place for place, number in enumerate(numbers) if number >= count), len(numbers))


def _chosen(vendor: str) -> str | None:
    """What the variables choose among the GPUs; None where they say nothing."""
    get = os.environ.get
    if vendor == "nvidia":
        return get("CUDA_VISIBLE_DEVICES")
    hip, rocr = get("HIP_VISIBLE_DEVICES"), get("ROCR_VISIBLE_DEVICES")
    if rocr is None:
        return get("CUDA_VISIBLE_DEVICES") if hip is None else hip
    left = rocr.count(",") + 1  # the driver's choice comes first: HIP counts those that it leaves
    if hip is None:
        return ",".join(str(number) for number in range(left))
    if hip.count(",") >= left:
        told = "HIP_VISIBLE_DEVICES contains more devices than ROCR_VISIBLE_DEVICES"
        raise as_the_real_one(RuntimeError(told))
    return hip


def describe(hardware: dict[str, Any], versions: dict[str, str]) -> dict[str, Callable[[Any], None]]:
    """What the modules of torch hold on this hardware: module name → function that fills the module."""
    gpu = hardware["gpu"]
    vendor = gpu["vendor"]
    nvidia, amd = vendor == "nvidia", vendor == "amd"
    some = nvidia or amd
    version = versions.get("torch", "2.9.1").partition("+")[0]
    cuda, rocm = versions.get("cuda", "13.0"), versions.get("rocm", "7.0.2")
    label = version + (
        f"+cu{cuda.replace('.', '')}" if nvidia else f"+rocm{'.'.join(rocm.split('.')[:2])}" if amd else "+cpu"
    )
    capability = tuple(gpu["capability"]) if gpu.get("capability") else (0, 0)
    memory = (gpu.get("torch_memory_mib") or gpu["memory_mib"]) << 20
    state = {"device": 0, "initialized": False}

    def device_count() -> int:
        return visible(gpu_count(), vendor) if some else 0

    def is_available() -> bool:
        return some and (any_gpu() if _chosen(vendor) is None else device_count() > 0)

    def initialize() -> None:
        """What torch does before it asks a device for anything, and what fails in a build without devices."""
        if not some:
            raise as_the_real_one(AssertionError("Torch not compiled with CUDA enabled"))
        state["initialized"] = True

    def index_of(where: Any) -> int:
        """The number of a device that is there: of ``where``, or the current one."""
        if isinstance(where, str):
            where = device(where)
        if isinstance(where, _DEVICE) and where.type != "cuda":
            raise as_the_real_one(ValueError(f"Expected a cuda device, but got: {where}"))
        number = where.index if isinstance(where, _DEVICE) else where
        number = state["device"] if number is None else number
        if number < 0 or number >= device_count():
            raise as_the_real_one(AssertionError("Invalid device id"))
        return int(number)

    def set_device(device: Any) -> None:
        """Choose a device of this node. Raises what CUDA says of one that is not there."""
        initialize()
        chosen = device if isinstance(device, int) else _DEVICE(device).index
        if chosen is not None and chosen >= device_count():
            raise as_the_real_one(RuntimeError("CUDA error: invalid device ordinal"))
        state["device"] = chosen or 0

    def properties(device: Any = None) -> Any:
        initialize()
        index_of(device)
        return types.SimpleNamespace(
            name=gpu["device_name"],
            total_memory=memory,
            major=capability[0],
            minor=capability[1],
            multi_processor_count=gpu["sm_count"],
            is_integrated=int(gpu["integrated"]),
            is_multi_gpu_board=0,
            warp_size=gpu["warp_size"],
            gcnArchName=(f"{gpu['gfx']}:sramecc+:xnack-" if gpu.get("gfx") else ""),
            shared_memory_per_block=49152 if nvidia else 65536,
            shared_memory_per_block_optin=gpu["shared_memory_per_block_optin"],
            shared_memory_per_multiprocessor=gpu["shared_memory_per_block_optin"] + 1024,
            regs_per_multiprocessor=65536,
            max_threads_per_multi_processor=2048,
            max_threads_per_block=1024,
            L2_cache_size=gpu["l2_cache_bytes"],
            uuid="00000000-0000-0000-0000-000000000000",
            pci_bus_id=1,
            pci_device_id=0,
            pci_domain_id=0,
        )

    def fill_torch(m: Any) -> None:
        m.__version__ = label
        for name, kind in dtype.named.items():
            setattr(m, name, kind)
        for name, kind_name in ALIASES.items():
            setattr(m, name, dtype.named[kind_name])
        m.dtype, m.device, m.Tensor, m.Generator, m.Size, m.finfo, m.iinfo = (
            dtype,
            device,
            Tensor,
            Generator,
            Size,
            finfo,
            iinfo,
        )
        m.SymInt, m.SymFloat, m.SymBool = (
            type(n, (), {"__module__": "torch"}) for n in ("SymInt", "SymFloat", "SymBool")
        )
        m.is_tensor = lambda x: isinstance(x, Tensor)
        m.typename = lambda x: type(x).__qualname__
        m.get_default_dtype = lambda: DEFAULT["dtype"]
        m.get_default_device = lambda: PLACE[-1] if PLACE else device("cpu")
        m.set_default_dtype = lambda kind: DEFAULT.__setitem__("dtype", kind)
        m.tensor = m.as_tensor = faketensors.tensor
        m.empty = m.rand = m.randn = faketensors.made
        m.zeros, m.ones, m.sum = faketensors.zeros, faketensors.ones, faketensors.total
        m.empty_like = m.zeros_like = m.ones_like = m.rand_like = m.randn_like = m.full_like = faketensors.made_like
        m.full, m.arange, m.cat = faketensors.full, faketensors.arange, faketensors.cat
        m.count_nonzero, m.einsum, m.outer = faketensors.count_nonzero, faketensors.einsum, faketensors.outer
        m.where = faketensors.where
        m.__dict__.update(dict.fromkeys(faketensors.UNARY, faketensors.unary))
        m.get_num_threads = lambda: hardware["host"]["cpus"]
        m.set_num_threads = m.set_num_interop_threads = m.set_float32_matmul_precision = lambda _n: None
        m.get_float32_matmul_precision = lambda: "highest"
        m.manual_seed = m.seed = lambda *_a: None
        m.is_grad_enabled = lambda: True
        m.is_inference_mode_enabled = lambda: False
        m.no_grad = m.inference_mode = m.enable_grad = m.compile = decorator
        m.strided = types.SimpleNamespace()
        m.pi = 3.141592653589793
        m.inf, m.nan = float("inf"), float("nan")
        m.get_device_module = lambda *_a: importlib.import_module("torch.cuda" if some else "torch.cpu")
        m.__path__ = []
        m._gonogo_missing = {
            "npu",
            "hpu",
            "musa",
            "sdaa",
            "mlu",
            "tpu",
            "xla",
            "gcu",
            "mthreads",
            "supa",
            "txda",
            "backend_fallback",
        }
        for part in (
            "nn",
            "cuda",
            "version",
            "library",
            "distributed",
            "accelerator",
            "cpu",
            "backends",
            "utils",
            "jit",
            "xpu",
            "mps",
            "_C",
            "types",
            "fx",
            "autograd",
            "hub",
            "compiler",
            "multiprocessing",
            "profiler",
            "mtia",
        ):
            setattr(m, part, importlib.import_module(f"torch.{part}"))

        m.ops = Operators()

    def fill_version(m: Any) -> None:
        m.__version__, m.debug, m.git_version = label, False, "0" * 40
        m.cuda, m.hip, m.xpu = (cuda if nvidia else None), (f"{rocm}-0" if amd else None), None
        m.rocm = rocm if amd else None
        m._gonogo_missing = {"musa", "npu", "cann", "maca", "hpu"}

    def fill_cuda(m: Any) -> None:
        def capability_of(device: Any = None) -> tuple[Any, ...]:
            found = properties(device)
            return found.major, found.minor

        def memory_info(device: Any = None) -> tuple[int, int]:
            initialize()
            return memory, memory

        def bf16(including_emulation: bool = True) -> bool:
            """Older GPUs hold the numbers too, which is all that torch asks for unless it is told not to."""
            return amd or (is_available() and (including_emulation or properties().major >= 8))

        m.is_available = is_available
        m.device_count = device_count
        m._device_count_nvml = device_count if nvidia else lambda: -1
        m._device_count_amdsmi = device_count if amd else lambda: -1
        m._is_compiled = lambda: some
        m.is_initialized = lambda: state["initialized"]
        m._is_in_bad_fork = m.is_current_stream_capturing = lambda: False
        m.get_device_properties = properties
        m.get_device_capability = capability_of
        m.get_device_name = lambda device=None: properties(device).name
        m.current_device = lambda: (initialize(), state["device"])[1]
        m.set_device = set_device
        m.memory_stats = lambda *_a: {}
        m.mem_get_info = memory_info
        m._get_nvml_device_index = lambda *_a: 0
        m.can_device_access_peer = lambda device, peer_device: (initialize(), bool(gpu["nvlink"]))[1]
        m.is_bf16_supported = bf16
        m.get_arch_list = lambda: (
            ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"] if nvidia else [gpu["gfx"]] if amd else []
        )
        m.memory_allocated = m.memory_reserved = m.max_memory_allocated = lambda device=None: 0
        m.synchronize = lambda device=None: initialize()
        m.empty_cache = m.reset_peak_memory_stats = m.manual_seed_all = m.manual_seed = lambda *_a, **_k: None

    def fill_accelerator(m: Any) -> None:
        m.is_available = is_available
        m.device_count = device_count
        m.current_device_index = lambda: 0
        m.set_device_index = set_device
        m.get_memory_info = lambda *_a: (initialize(), (memory, memory))[1]
        m.memory_stats = lambda *_a: {}
        m.memory_allocated = m.memory_reserved = m.max_memory_allocated = m.max_memory_reserved = lambda *_a: 0
        m.synchronize = m.empty_cache = m.reset_peak_memory_stats = lambda *_a: None
        m.current_accelerator = lambda *_a, **_k: device("cuda") if some else None

    def nothing_there(m: Any) -> None:
        m.is_available = m._is_compiled = m.is_initialized = m.is_built = lambda *_a: False
        m.device_count = lambda: 0

    def fill_backends(m: Any) -> None:
        for part in ("mps", "mkldnn", "xnnpack", "cuda", "cudnn", "mha", "opt_einsum", "openmp", "xeon"):
            setattr(m, part, importlib.import_module(f"torch.backends.{part}"))

    def fill_cpu(m: Any) -> None:
        flags = set(hardware["host"]["cpu_flags"])
        for name, flag in (
            ("_is_avx2_supported", "avx2"),
            ("_is_avx512_supported", "avx512f"),
            ("_is_avx512_bf16_supported", "avx512_bf16"),
            ("_is_vnni_supported", "avx512_vnni"),
            ("_is_avx512_vnni_supported", "avx512_vnni"),
            ("_is_amx_tile_supported", "amx_tile"),
            ("_is_amx_fp16_supported", "amx_fp16"),
            ("_is_arm_sve_supported", "sve"),
        ):
            setattr(m, name, lambda flag=flag: flag in flags)
        m.is_available = lambda: True
        m.device_count = lambda: 1
        m.current_device = lambda: "cpu"
        m.is_initialized = lambda: True

    def fill_nn(m: Any) -> None:
        m.Parameter, m.Buffer = fakenn.Parameter, fakenn.Buffer
        m.__dict__.update(fakenn.LAYERS)
        for part in ("parameter", "functional", "modules", "init", "utils", "attention"):
            setattr(m, part, importlib.import_module(f"torch.nn.{part}"))

    def fill_library(m: Any) -> None:
        m.Library, m.infer_schema, m.custom_op = Library, infer_schema, _custom_op
        m.register_fake = m.impl = m.register_kernel = m.impl_abstract = m.register_autograd = decorator
        m.define = lambda *_a, **_k: None

    def attributes(**values: Any) -> Callable[[Any], None]:
        return lambda m: m.__dict__.update(values)

    return {
        "torch": fill_torch,
        "torch.version": fill_version,
        "torch.cuda": fill_cuda,
        "torch.accelerator": fill_accelerator,
        "torch.distributed": fakedistributed.describe(some),
        "torch.distributed.distributed_c10d": attributes(
            is_nccl_available=lambda: some, ProcessGroup=fakedistributed.ProcessGroup
        ),
        "torch.cuda.memory": attributes(get_allocator_backend=lambda: "native"),
        "torch.xpu": nothing_there,
        "torch.mps": nothing_there,
        "torch.mtia": nothing_there,
        "torch.backends": fill_backends,
        "torch.backends.mps": nothing_there,
        "torch.backends.cuda": attributes(is_built=lambda: some),
        "torch.backends.mkldnn": attributes(is_available=lambda: True),
        "torch.backends.cudnn": attributes(is_available=lambda: some, version=lambda: 91002 if some else None),
        "torch.backends.xnnpack": attributes(),
        "torch.backends.mha": attributes(),
        "torch.backends.opt_einsum": attributes(),
        "torch.backends.openmp": attributes(is_available=lambda: True),
        "torch.backends.xeon": attributes(),
        "torch.cpu": fill_cpu,
        "torch.nn": fill_nn,
        "torch.nn.init": fakeinit.describe,
        "torch.nn.modules": attributes(**fakenn.LAYERS),
        "torch.nn.modules.module": attributes(Module=Module, **fakenn.REGISTRATION_HOOKS),
        "torch.nn.parameter": attributes(
            Parameter=fakenn.Parameter,
            UninitializedParameter=fakenn.UninitializedParameter,
            Buffer=fakenn.Buffer,
        ),
        "torch.library": fill_library,
        "torch.compiler": attributes(
            is_compiling=lambda: False,
            is_dynamo_compiling=lambda: False,
            disable=decorator,
            allow_in_graph=decorator,
            assume_constant_result=decorator,
        ),
        "torch.jit": attributes(
            is_scripting=lambda: False,
            is_tracing=lambda: False,
            script=decorator,
            ignore=decorator,
            unused=decorator,
            export=decorator,
        ),
        "torch.autograd": attributes(),
        "torch.nn.functional": attributes(pad=faketensors.pad),
        "torch.nn.utils": attributes(),
        "torch.nn.attention": attributes(),
        "torch.utils": attributes(),
        "torch._C": attributes(
            _accelerator_getAllocatorSettings=lambda: "", _accelerator_setAllocatorSettings=lambda _settings: None
        ),
        "torch.types": attributes(),
        "torch.fx": attributes(),
        "torch.hub": attributes(),
        "torch._inductor.config": attributes(deterministic=os.environ.get("TORCHINDUCTOR_DETERMINISTIC") == "1"),
        "torch.multiprocessing": attributes(),
        "torch.profiler": attributes(),
        "torch.utils.cpp_extension": attributes(
            CUDA_HOME="/usr/local/cuda" if nvidia else None, ROCM_HOME="/opt/rocm" if amd else None
        ),
    }
