"""torch's number types and devices, with torch's real values and messages.

Facts are torch's documented behaviour (torch.finfo, torch.device).
"""

from __future__ import annotations

import typing
from typing import Any

from .unknown import as_the_real_one

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
ALIASES = {
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


#: What tensors are made of where nothing is said.
DEFAULT = {"dtype": dtype.named["float32"]}


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
        PLACE.append(self)
        return self

    def __exit__(self, *_args: Any) -> bool:
        PLACE.pop()
        return False


#: Where ``with torch.device(...)`` puts new tensors.
PLACE: list[device] = []


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
