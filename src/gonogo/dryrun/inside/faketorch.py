"""A torch that describes pretend hardware: constants have torch's real values, all that computes is unknown.

Facts are torch's documented behaviour (torch.finfo, torch.device, version strings of its wheels).
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import os
import re
import types
import typing
from collections.abc import Callable
from typing import Any

from .gpucount import any_gpu, gpu_count
from .unknown import Unknown, UnknownBase, as_the_real_one, described_attribute

#: name: (bytes, floating, signed, complex)
_DTYPES = {
    "float16": (2, True, True),
    "bfloat16": (2, True, True),
    "float32": (4, True, True),
    "float64": (8, True, True),
    "float8_e4m3fn": (1, True, True),
    "float8_e4m3fnuz": (1, True, True),
    "float8_e5m2": (1, True, True),
    "float8_e5m2fnuz": (1, True, True),
    "float8_e8m0fnu": (1, True, False),
    "float4_e2m1fn_x2": (1, True, True),
    "int8": (1, False, True),
    "int16": (2, False, True),
    "int32": (4, False, True),
    "int64": (8, False, True),
    "uint8": (1, False, False),
    "uint16": (2, False, False),
    "uint32": (4, False, False),
    "uint64": (8, False, False),
    "bool": (1, False, False),
    "complex32": (4, False, True),
    "complex64": (8, False, True),
    "complex128": (16, False, True),
    "qint8": (1, False, True),
    "quint8": (1, False, False),
    "qint32": (4, False, True),
    "quint4x2": (1, False, False),
    "int4": (1, False, True),
    "uint4": (1, False, False),
    "int2": (1, False, True),
    "uint2": (1, False, False),
    "int1": (1, False, True),
    "uint1": (1, False, False),
}
_ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
#: name: (max, smallest normal, eps, decimal digits, smallest subnormal)
_FLOATS = {
    "float16": (65504.0, 6.103515625e-05, 0.0009765625, 0.001),
    "bfloat16": (3.3895313892515355e38, 1.1754943508222875e-38, 0.0078125, 0.01),
    "float32": (3.4028234663852886e38, 1.1754943508222875e-38, 1.1920928955078125e-07, 1e-06),
    "float64": (1.7976931348623157e308, 2.2250738585072014e-308, 2.220446049250313e-16, 1e-15),
    "float8_e4m3fn": (448.0, 0.015625, 0.125, 1.0),
    "float8_e4m3fnuz": (240.0, 0.0078125, 0.125, 1.0),
    "float8_e5m2": (57344.0, 6.103515625e-05, 0.25, 1.0),
    "float8_e5m2fnuz": (57344.0, 3.0517578125e-05, 0.25, 1.0),
    "float8_e8m0fnu": (1.7014118346046923e38, 5.877471754111438e-39, 1.0, 1.0),
}
_DEVICE_TYPES = [
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
]


class dtype:
    """torch.dtype: one object per type."""

    named: typing.ClassVar[dict[str, dtype]] = {}

    def __init__(self, name: str, size: int, floating: bool, signed: bool) -> None:
        self._name, self.itemsize, self.is_floating_point, self.is_signed = name, size, floating, signed
        self.is_complex = name.startswith("complex")

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> Any:
        return (_dtype_named, (self._name,))

    def to_real(self) -> dtype:
        return {"complex64": dtype.named["float32"], "complex128": dtype.named["float64"]}.get(self._name, self)


def _dtype_named(name: str) -> dtype:
    return dtype.named[name]


dtype.__module__ = "torch"
for _name, (_size, _floating, _signed) in _DTYPES.items():
    dtype.named[_name] = dtype(_name, _size, _floating, _signed)


_DTYPE = dtype
_DEFAULT = {"dtype": dtype.named["float32"]}


class device:
    """torch.device, with torch's own parsing and messages."""

    __module__ = "torch"

    def __init__(self, type: Any = None, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type: str = type.type
            self.index: int | None = type.index
            return
        if isinstance(type, int):
            self.type, self.index = "cuda", type
            return
        kind, colon, number = str(type).partition(":")
        if kind not in _DEVICE_TYPES:
            expected = ", ".join(_DEVICE_TYPES)
            raise as_the_real_one(
                RuntimeError(f"Expected one of {expected} device type at start of device string: {kind}")
            )
        if colon and not number.isdigit():
            raise as_the_real_one(RuntimeError(f"Invalid device string: '{type}'"))
        self.type, self.index = kind, int(number) if colon else index

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> Any:
        return (device, (str(self),))

    def __enter__(self) -> device:
        return self

    def __exit__(self, *_args: Any) -> bool:
        return False


_DEVICE = device


class finfo:
    """torch.finfo."""

    def __init__(self, kind: dtype | None = None) -> None:
        kind = kind or dtype.named["float32"]
        if not kind.is_floating_point:
            told = f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{kind!r}'"
            raise as_the_real_one(TypeError(told))
        biggest, tiny, eps, resolution = _FLOATS[kind._name]
        self.bits, self.max, self.min, self.eps, self.tiny = kind.itemsize * 8, biggest, -biggest, eps, tiny
        self.smallest_normal, self.resolution, self.dtype = tiny, resolution, kind._name


class iinfo:
    """torch.iinfo."""

    def __init__(self, kind: dtype) -> None:
        self.bits, self.dtype = kind.itemsize * 8, kind._name
        self.max = 2 ** (self.bits - kind.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if kind.is_signed else 0


class Tensor(UnknownBase):
    """torch.Tensor: nothing is known of one."""

    __module__ = "torch"


class KnownTensor(Tensor):
    """A tensor of which type and shape are known, never the numbers."""

    def __init__(self, shape: tuple[Any, ...], kind: dtype, where: device) -> None:
        self.shape, self.dtype, self.device = Size(shape), kind, where
        self.itemsize, self.ndim, self.is_cuda = kind.itemsize, len(shape), where.type == "cuda"
        self.requires_grad = False

    def element_size(self) -> int:
        return self.itemsize

    def size(self, axis: int | None = None) -> Any:
        return self.shape if axis is None else self.shape[axis]

    def dim(self) -> int:
        return self.ndim

    def numel(self) -> int:
        return math.prod(self.shape)

    nelement = numel

    def __len__(self) -> int:
        return int(self.shape[0]) if self.shape else 0


def _made(*shape: Any, dtype: Any = None, device: Any = None, **_options: Any) -> Any:
    """torch.empty and its kin. A shape that is not known gives an unknown tensor."""
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if not all(isinstance(axis, int) for axis in shape):
        return Unknown("torch.empty()")
    return KnownTensor(shape, dtype or _DEFAULT["dtype"], _device(device))


def _tensor(data: Any = None, dtype: Any = None, device: Any = None, **_options: Any) -> Any:
    """torch.tensor: the shape is that of the nested lists; without a type it is that of their first number."""
    shape, first = [], data
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        first = first[0] if first else None
    guessed = {bool: "bool", int: "int64"}.get(type(first))
    kind = dtype or (_DTYPE.named[guessed] if guessed else _DEFAULT["dtype"])
    return KnownTensor(tuple(shape), kind, _device(device))


def _device(where: Any) -> device:
    return where if isinstance(where, device) else device("cpu" if where is None else where)


class Generator(UnknownBase):
    """torch.Generator."""

    __module__ = "torch"


class Size(tuple):  # type: ignore[type-arg]
    """torch.Size."""

    __module__ = "torch"


_MODULE_METHODS = [
    "add_module",
    "apply",
    "bfloat16",
    "buffers",
    "children",
    "compile",
    "cpu",
    "cuda",
    "double",
    "eval",
    "extra_repr",
    "float",
    "get_buffer",
    "get_extra_state",
    "get_parameter",
    "get_submodule",
    "half",
    "ipu",
    "load_state_dict",
    "modules",
    "mtia",
    "named_buffers",
    "named_children",
    "named_modules",
    "named_parameters",
    "parameters",
    "register_backward_hook",
    "register_buffer",
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_load_state_dict_post_hook",
    "register_load_state_dict_pre_hook",
    "register_module",
    "register_parameter",
    "register_state_dict_post_hook",
    "register_state_dict_pre_hook",
    "requires_grad_",
    "set_extra_state",
    "set_submodule",
    "share_memory",
    "state_dict",
    "to",
    "to_empty",
    "train",
    "type",
    "xpu",
    "zero_grad",
]


class Module:
    """torch.nn.Module as far as classes are concerned: its real method names, no more, since engines probe for names."""

    __module__ = "torch.nn.modules.module"
    dump_patches = False
    training = True
    call_super_init = False

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return described_attribute(self, name, f"{type(self).__name__}()")

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *self.__dict__})

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward(self, *_input: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Unknown(f"{type(self).__name__}()()")


def _module_method(name: str) -> Callable[..., Any]:
    def method(self: Any, *_args: Any, **_kwargs: Any) -> Any:
        return Unknown(f"{type(self).__name__}().{name}()")

    method.__name__ = name
    return method


for _name in _MODULE_METHODS:
    setattr(Module, _name, _module_method(_name))


class Parameter(Tensor):
    """torch.nn.Parameter."""

    __module__ = "torch.nn.parameter"


class UninitializedParameter(Parameter):
    """torch.nn.UninitializedParameter."""

    __module__ = "torch.nn.parameter"


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
        for name, kind_name in _ALIASES.items():
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
        m.get_default_dtype = lambda: _DEFAULT["dtype"]
        m.set_default_dtype = lambda kind: _DEFAULT.__setitem__("dtype", kind)
        m.tensor = m.as_tensor = _tensor
        m.empty = m.zeros = m.ones = m.rand = m.randn = _made
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
        m.set_device = lambda device: None
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
        m.current_accelerator = lambda *_a, **_k: device("cuda") if some else None

    def fill_distributed(m: Any) -> None:
        m.is_available = lambda: True
        m.is_initialized = lambda: False
        m.is_nccl_available = lambda: some
        m.is_gloo_available = lambda: True
        m.is_mpi_available = m.is_ucc_available = m.is_xccl_available = m.is_torchelastic_launched = lambda: False

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
        m.Module, m.Parameter = Module, Parameter
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
        "torch.distributed": fill_distributed,
        "torch.distributed.distributed_c10d": attributes(is_nccl_available=lambda: some),
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
        "torch.nn.modules": attributes(Module=Module),
        "torch.nn.modules.module": attributes(Module=Module),
        "torch.nn.parameter": attributes(Parameter=Parameter, UninitializedParameter=UninitializedParameter),
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
        "torch.nn.functional": attributes(),
        "torch.nn.init": attributes(),
        "torch.nn.utils": attributes(),
        "torch.nn.attention": attributes(),
        "torch.utils": attributes(),
        "torch._C": attributes(),
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
