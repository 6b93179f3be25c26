"""Tensors of which something is known: type and shape, and the numbers where they are whole and few (ranks of processes).

All that computes gives an unknown value.
"""

from __future__ import annotations

import importlib
import math
import os
import struct
from collections.abc import Callable
from typing import Any

from .decisions import HERE
from .faketypes import DEFAULT, PLACE, device, dtype
from .unknown import Unknown, UnknownBase, as_the_real_one

_MOST_NUMBERS = 1 << 16


def _attributes() -> frozenset[str]:
    """``Tensor.shape``: what tensors, parameters and modules have, as of the version that the file names."""
    with open(os.path.join(HERE, "torch_attributes.txt")) as file:
        return frozenset(line.strip() for line in file if not line.startswith("#"))


ATTRIBUTES = _attributes()


class Size(tuple):  # type: ignore[type-arg]
    """torch.Size."""

    __module__ = "torch"

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        return math.prod(self)


class Tensor(UnknownBase):
    """torch.Tensor: nothing is known of one."""

    __module__ = "torch"
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if f"Tensor.{name}" not in ATTRIBUTES and f"Parameter.{name}" not in ATTRIBUTES:
            raise as_the_real_one(AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'"))
        return Unknown(f"torch.Tensor().{name}")

    def __getitem__(self, _key: Any) -> Any:
        return Unknown("torch.Tensor()[]")

    def __setitem__(self, _key: Any, _value: Any) -> None:
        pass


def _operate(name: str) -> Callable[..., Any]:
    return lambda self, *_other: Unknown(f"torch.Tensor().{name}()")


_ARITHMETIC = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "matmul",
]
_OTHERS = ["neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"]
for _name in [
    *_ARITHMETIC,
    *(f"r{each}" for each in _ARITHMETIC),
    *(f"i{each}" for each in _ARITHMETIC),
    *_OTHERS,
]:
    setattr(Tensor, f"__{_name}__", _operate(f"__{_name}__"))


class UntypedStorage:
    """torch.UntypedStorage: the bytes behind a tensor, of which nobody knows more than how many."""

    __module__ = "torch.storage"

    def __init__(self, size: int, where: device) -> None:
        self._size, self.device = size, where

    def data_ptr(self) -> int:
        """An address that no other storage has."""
        return id(self)

    def nbytes(self) -> int:
        """How many bytes."""
        return self._size

    size = __len__ = nbytes


class KnownTensor(Tensor):
    """A tensor of which type and shape are known, never the numbers."""

    def __init__(self, shape: tuple[Any, ...], kind: dtype, where: device) -> None:
        self.shape, self.dtype, self.device = Size(shape), kind, where
        self.itemsize, self.ndim, self.is_cuda = kind.itemsize, len(shape), where.type == "cuda"
        self.is_meta, self.is_cpu, self.is_sparse, self.layout = where.type == "meta", where.type == "cpu", False, None
        self.requires_grad, self.grad = False, None
        self._storage = UntypedStorage(self.itemsize * math.prod(self.shape), where)

    def untyped_storage(self) -> UntypedStorage:
        """Where it would be kept."""
        return self._storage

    def data_ptr(self) -> int:
        """An address that no other tensor has."""
        return self._storage.data_ptr()

    @property
    def data(self) -> Any:
        """The tensor itself: there are no gradients."""
        return self

    @data.setter
    def data(self, value: Any) -> None:
        if isinstance(value, KnownTensor):
            self.shape, self.dtype, self.device = value.shape, value.dtype, value.device

    def element_size(self) -> int:
        return self.itemsize

    def size(self, axis: int | None = None) -> Any:
        return self.shape if axis is None else self.shape[axis]

    def dim(self) -> int:
        return self.ndim

    def numel(self) -> int:
        return math.prod(self.shape)

    nelement = numel

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_contiguous(self, *_args: Any, **_kwargs: Any) -> bool:
        return True

    def _same(self, *_args: Any, **_kwargs: Any) -> KnownTensor:
        return self

    contiguous = clone = detach = fill_ = zero_ = copy_ = normal_ = uniform_ = requires_grad_ = pin_memory = cuda = (
        cpu
    ) = _same

    cos = sin = tan = tanh = exp = exp2 = log = log2 = sqrt = rsqrt = abs = neg = floor = ceil = round = clamp = _same
    sigmoid = relu = reciprocal = square = pow = mul_ = add_ = sub_ = div_ = clamp_ = masked_fill = masked_fill_ = _same

    def unsqueeze(self, dim: Any) -> Any:
        """One more axis, of length one."""
        at = dim if dim >= 0 else dim + self.ndim + 1
        return self._as((*self.shape[:at], 1, *self.shape[at:]))

    def repeat(self, *times: Any) -> Any:
        """The whole, so many times along each axis."""
        wanted = _flat(times)
        old = (1,) * (len(wanted) - self.ndim) + tuple(self.shape)
        return self._as(tuple(one * own for one, own in zip(wanted, old, strict=True)))

    def to(self, *args: Any, **kwargs: Any) -> KnownTensor:
        """The same shape in another type or elsewhere."""
        kind, where = self.dtype, self.device
        for value in (*args, *kwargs.values()):
            if isinstance(value, dtype):
                kind = value
            elif isinstance(value, (device, str)):
                where = device(value)
        return KnownTensor(self.shape, kind, where)

    def view(self, *shape: Any) -> Any:
        """The same numbers in another shape; as another type where one is given."""
        if len(shape) == 1 and isinstance(shape[0], dtype):
            width = self.itemsize / shape[0].itemsize
            last = self.shape[-1] * width if self.shape else width
            return KnownTensor((*self.shape[:-1], int(last)), shape[0], self.device)
        found = _filled(_flat(shape), self.numel())
        return Unknown("torch.Tensor().view()") if found is None else self._as(found)

    reshape = view

    def t(self) -> Any:
        """Transposed."""
        return self.transpose(0, -1)

    def transpose(self, one: int, other: int) -> Any:
        """Two axes exchanged."""
        axes = list(range(self.ndim))
        axes[one], axes[other] = axes[other], axes[one]
        return self.permute(*axes)

    def permute(self, *axes: Any) -> Any:
        """The axes in another order."""
        return self._as(tuple(self.shape[axis] for axis in _flat(axes)))

    def flatten(self, *_args: Any) -> Any:
        """In one axis."""
        return self._as((self.numel(),)) if not _args else Unknown("torch.Tensor().flatten()")

    def _as(self, shape: tuple[int, ...]) -> KnownTensor:
        return KnownTensor(shape, self.dtype, self.device)

    def __len__(self) -> int:
        return int(self.shape[0]) if self.shape else 0

    def __repr__(self) -> str:
        return f"tensor(shape={tuple(self.shape)}, dtype={self.dtype})"


def _converted(kind: str) -> Callable[[KnownTensor], KnownTensor]:
    return lambda self: self.to(_named(kind))


for _name, _target in (
    ("float", "float32"),
    ("double", "float64"),
    ("half", "float16"),
    ("bfloat16", "bfloat16"),
    ("int", "int32"),
    ("long", "int64"),
    ("bool", "bool"),
):
    setattr(KnownTensor, _name, _converted(_target))


def _elementwise(name: str) -> Callable[..., Any]:
    """An operation on each element: the shape is known where both sides' are."""
    unknown = getattr(Tensor, name)
    compares = name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")

    def operate(self: Any, *others: Any) -> Any:
        shapes = [other.shape for other in others if isinstance(other, KnownTensor)]
        if not all(isinstance(other, (KnownTensor, int, float)) for other in others):
            return unknown(self, *others)

        shape = _numpy().broadcast_shapes(self.shape, *shapes)
        return KnownTensor(shape, _named("bool") if compares else self.dtype, self.device)

    return operate


for _name in (*(f"{side}{each}" for side in ("", "r", "i") for each in _ARITHMETIC if each != "matmul"), *_OTHERS):
    setattr(KnownTensor, f"__{_name}__", _elementwise(f"__{_name}__"))


class NumberTensor(KnownTensor):
    """A tensor whose numbers are known: whole numbers, such as the ranks of processes and the places of experts."""

    def __init__(self, numbers: Any, kind: dtype, where: device) -> None:
        super().__init__(tuple(int(axis) for axis in numbers.shape), kind, where)
        self._numbers = numbers

    def _of(self, numbers: Any) -> NumberTensor:
        return NumberTensor(numbers, self.dtype, self.device)

    def view(self, *shape: Any) -> Any:
        if len(shape) == 1 and isinstance(shape[0], dtype):
            return super().view(*shape)
        return self._of(self._numbers.reshape(_flat(shape)))

    reshape = view

    def permute(self, *axes: Any) -> Any:
        return self._of(self._numbers.transpose(_flat(axes)))

    def flatten(self, *_args: Any) -> Any:
        return self._of(self._numbers.reshape(-1)) if not _args else super().flatten(*_args)

    def unsqueeze(self, dim: int) -> NumberTensor:
        """One more axis, of length one."""
        at = dim if dim >= 0 else dim + self.ndim + 1
        return self._of(self._numbers.reshape((*self.shape[:at], 1, *self.shape[at:])))

    def repeat(self, *times: Any) -> NumberTensor:
        """The whole, so many times along each axis."""
        return self._of(_numpy().tile(self._numbers, _flat(times)))

    def expand(self, *shape: Any) -> NumberTensor:
        """The same numbers along axes of length one."""
        wanted = _flat(shape)
        old = (1,) * (len(wanted) - self.ndim) + tuple(self.shape)
        return self._of(
            _numpy().broadcast_to(
                self._numbers, [one if one != -1 else own for one, own in zip(wanted, old, strict=True)]
            )
        )

    def _unknown_now(self, *_args: Any, **_kwargs: Any) -> KnownTensor:
        return self._as(self.shape)

    cos = sin = tan = tanh = exp = exp2 = log = log2 = sqrt = rsqrt = reciprocal = square = pow = _unknown_now
    mul_ = add_ = sub_ = div_ = clamp_ = masked_fill = masked_fill_ = fill_ = zero_ = copy_ = _unknown_now

    def sum(self, dim: Any = None, **_options: Any) -> NumberTensor:
        """Added up, along an axis or all."""
        return NumberTensor(_numpy().asarray(self._numbers.sum(axis=dim)), _named("int64"), self.device)

    def unbind(self, dim: int = 0) -> tuple[NumberTensor, ...]:
        """Its slices along an axis."""
        return tuple(self._of(part) for part in self._numbers.swapaxes(0, dim))

    def to(self, *args: Any, **kwargs: Any) -> Any:
        moved = super().to(*args, **kwargs)
        return moved if moved.dtype.is_floating_point else NumberTensor(self._numbers, moved.dtype, moved.device)

    def cpu(self) -> NumberTensor:  # type: ignore[override]
        """On the host."""
        return NumberTensor(self._numbers, self.dtype, device("cpu"))

    def numpy(self) -> Any:
        """Its numbers."""
        return self._numbers

    def tolist(self) -> Any:
        """Its numbers in nested lists."""
        return self._numbers.tolist()

    def item(self) -> Any:
        """Its only number."""
        return self._numbers.item()

    def __getitem__(self, key: Any) -> Any:
        places = _places(key)
        if places is None:
            return Unknown("torch.Tensor()[]")
        try:
            return self._of(self._numbers[places])
        except (IndexError, TypeError):
            return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        places = _places(key)
        if places is None or not isinstance(value, (NumberTensor, int)):
            self.__class__ = KnownTensor  # type: ignore[assignment]  # its numbers are not known any more
            return
        numbers = self._numbers.copy()
        numbers[places] = value._numbers if isinstance(value, NumberTensor) else value
        self._numbers = numbers

    def __iter__(self) -> Any:
        return iter(self.unbind())

    def __int__(self) -> int:
        return int(self._numbers)

    __index__ = __int__


def _places(key: Any) -> Any:
    """A key as numpy takes it; None where somebody would have to know a number that nobody does."""
    parts = key if isinstance(key, tuple) else (key,)
    plain = tuple(part._numbers if isinstance(part, NumberTensor) else part for part in parts)
    if any(isinstance(part, (Unknown, Tensor)) for part in plain):
        return None
    return plain if isinstance(key, tuple) else plain[0]


def _is_plain_float(kind: dtype) -> bool:
    """Python has floats of that kind, or can round to it."""
    return kind in (_named("float32"), _named("float64"))


class OneNumber(KnownTensor):
    """A tensor of no axes whose one floating-point number is known, such as a GPU's free memory."""

    def __init__(self, number: float, kind: dtype, where: device) -> None:
        super().__init__((), kind, where)
        single = kind is _named("float32")
        self._number: float = struct.unpack("f", struct.pack("f", number))[0] if single else float(number)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        moved = super().to(*args, **kwargs)
        return OneNumber(self._number, moved.dtype, moved.device) if _is_plain_float(moved.dtype) else moved

    def cpu(self) -> OneNumber:  # type: ignore[override]
        """On the host."""
        return OneNumber(self._number, self.dtype, device("cpu"))

    def item(self) -> float:
        """The number."""
        return self._number

    tolist = item

    def __float__(self) -> float:
        return self._number


def _calculate(name: str) -> Callable[..., Any]:
    """An operation on whole numbers where both sides are known, else whatever a tensor says."""
    unknown = getattr(Tensor, name)

    def operate(self: Any, *others: Any) -> Any:
        known = [other._numbers if isinstance(other, NumberTensor) else other for other in others]
        if not all(isinstance(other, NumberTensor) or type(other) is int for other in others):
            return unknown(self, *others)
        found = getattr(self._numbers, name)(*known)
        if found is NotImplemented:
            return unknown(self, *others)

        found = _numpy().asarray(found)
        kind = _named("bool") if found.dtype.kind == "b" else self.dtype
        return NumberTensor(found, kind, self.device)

    return operate


for _name in (
    "add",
    "sub",
    "mul",
    "floordiv",
    "mod",
    "radd",
    "rsub",
    "rmul",
    "neg",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
):
    setattr(NumberTensor, f"__{_name}__", _calculate(f"__{_name}__"))


def _numpy() -> Any:
    """Of the light environment: gonogo itself does without."""
    return importlib.import_module("numpy")


def _flat(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(values[0]) if len(values) == 1 and isinstance(values[0], (tuple, list)) else values


def _filled(shape: tuple[Any, ...], count: int) -> tuple[int, ...] | None:
    """A shape whose -1 is replaced by what is left of ``count``; None where it does not work out."""
    if not all(isinstance(axis, int) for axis in shape):
        return None
    known = math.prod(axis for axis in shape if axis != -1)
    if -1 not in shape:
        return shape if known == count else None
    return tuple(count // known if axis == -1 else axis for axis in shape) if known and count % known == 0 else None


def made(*shape: Any, dtype: Any = None, device: Any = None, **options: Any) -> Any:
    """torch.empty and its kin. A shape that is not known gives an unknown tensor."""
    shape = _flat(shape or (options.get("size", ()),))
    if not all(isinstance(axis, int) for axis in shape):
        return Unknown("torch.empty()")
    return KnownTensor(shape, _kind(dtype), _place(device))


def _kind(of: Any) -> dtype:
    """A type that is given by torch's name or by Python's."""
    if of is None:
        return DEFAULT["dtype"]
    python = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    return _named(python[of]) if of in python else of


def made_like(other: Any, **options: Any) -> Any:
    """torch.empty_like and its kin."""
    if not isinstance(other, KnownTensor):
        return Unknown("torch.empty_like()")
    return made(other.shape, dtype=options.get("dtype") or other.dtype, device=options.get("device") or other.device)


def full(size: Any, fill_value: Any = None, **options: Any) -> Any:
    """torch.full: the numbers of whole ones are known."""
    shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if type(fill_value) is int and options.get("dtype") is None:
        options = {**options, "dtype": int}
    empty = made(shape, **options)
    known = isinstance(empty, KnownTensor) and type(fill_value) is int and not empty.dtype.is_floating_point
    if not known or empty.numel() > _MOST_NUMBERS:
        return empty

    return NumberTensor(_numpy().full(shape, fill_value), empty.dtype, empty.device)


def _filled_with(value: int) -> Callable[..., Any]:
    """torch.zeros, torch.ones."""

    def fill(*shape: Any, **options: Any) -> Any:
        kind = options.get("dtype")
        whole = kind is not None and not _kind(kind).is_floating_point and not _kind(kind).is_complex
        flat = _flat(shape or (options.pop("size", ()),))
        return full(flat, value, **options) if whole else made(*flat, **options)

    return fill


zeros, ones = _filled_with(0), _filled_with(1)


def total(input: Any, dim: Any = None, **_options: Any) -> Any:
    """torch.sum of known numbers."""
    if not isinstance(input, NumberTensor):
        return Unknown("torch.sum()")
    return input.sum(dim)


def tensor(data: Any = None, dtype: Any = None, device: Any = None, **_options: Any) -> Any:
    """torch.tensor: the shape is that of the nested lists; without a type it is that of their first number."""
    if isinstance(data, (Tensor, Unknown)):
        return data
    shape, first = [], data
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        first = first[0] if first else None
    guessed = {bool: "bool", int: "int64"}.get(type(first))
    kind = _kind(dtype) if dtype or not guessed else _named(guessed)
    where = _place(device)
    if type(first) is int and not kind.is_floating_point and math.prod(shape) <= _MOST_NUMBERS:
        return NumberTensor(_numpy().array(data), kind, where)
    if type(data) in (int, float) and _is_plain_float(kind):
        return OneNumber(data, kind, where)
    return KnownTensor(tuple(shape), kind, where)


def arange(*bounds: Any, dtype: Any = None, device: Any = None, **_options: Any) -> Any:
    """torch.arange, with its numbers where they are whole and few."""
    if not bounds or not all(isinstance(bound, int) for bound in bounds):
        return Unknown("torch.arange()")
    numbers = range(*bounds)
    kind, where = _kind(dtype or int), _place(device)
    if kind.is_floating_point or len(numbers) > _MOST_NUMBERS:
        return KnownTensor((len(numbers),), kind, where)

    return NumberTensor(_numpy().arange(*bounds), kind, where)


def pad(input: Any, pad: Any, *_args: Any, **_options: Any) -> Any:
    """torch.nn.functional.pad: longer at both ends of its last axes."""
    if not isinstance(input, KnownTensor) or not all(isinstance(each, int) for each in pad):
        return Unknown("torch.nn.functional.pad()")
    shape = list(input.shape)
    for number in range(len(pad) // 2):
        shape[-1 - number] += pad[2 * number] + pad[2 * number + 1]
    return KnownTensor(tuple(shape), input.dtype, input.device)


def outer(one: Any, other: Any, **_options: Any) -> Any:
    """torch.outer."""
    return einsum("i,j->ij", one, other)


def einsum(equation: Any, *tensors: Any) -> Any:
    """torch.einsum, as far as shapes go."""
    flat = _flat(tensors)
    sources, arrow, target = str(equation).replace(" ", "").partition("->")
    names = sources.split(",")
    known = all(isinstance(each, KnownTensor) for each in flat) and len(names) == len(flat)
    if not known or not arrow or not all(len(name) == each.ndim for name, each in zip(names, flat, strict=True)):
        return Unknown("torch.einsum()")
    sizes = {
        axis: size for name, each in zip(names, flat, strict=True) for axis, size in zip(name, each.shape, strict=True)
    }
    return KnownTensor(tuple(sizes[axis] for axis in target), flat[0].dtype, flat[0].device)


def unary(input: Any, *_args: Any, **_options: Any) -> Any:
    """torch.cos and its kin."""
    return input if isinstance(input, KnownTensor) else Unknown("torch.Tensor()")


#: Functions of torch that change each number and no shape.
UNARY = """
    cos sin tan tanh exp exp2 log log2 sqrt rsqrt abs neg floor ceil round clamp sigmoid relu reciprocal square
""".split()  # noqa: SIM905


def where(condition: Any, *choices: Any, **_options: Any) -> Any:
    """torch.where: the places where a condition holds; with two choices as large as the largest of the three."""
    if not choices and isinstance(condition, NumberTensor):
        found = _numpy().nonzero(condition._numbers)
        return tuple(NumberTensor(places, _named("int64"), condition.device) for places in found)
    known = [each for each in (condition, *choices) if isinstance(each, KnownTensor)]
    if (
        len(choices) != 2
        or not isinstance(condition, KnownTensor)
        or any(isinstance(each, Unknown) for each in choices)
    ):
        return Unknown("torch.where()")
    shape = _numpy().broadcast_shapes(*(each.shape for each in known))
    kind = known[1].dtype if len(known) > 1 else DEFAULT["dtype"]
    return KnownTensor(shape, kind, condition.device)


def count_nonzero(input: Any, dim: Any = None, **_options: Any) -> Any:
    """torch.count_nonzero along some axes."""
    if not isinstance(input, KnownTensor):
        return Unknown("torch.count_nonzero()")
    gone = (
        range(input.ndim)
        if dim is None
        else [axis % input.ndim for axis in (dim if isinstance(dim, (tuple, list)) else [dim])]
    )
    return KnownTensor(
        tuple(size for axis, size in enumerate(input.shape) if axis not in gone), _named("int64"), input.device
    )


def cat(tensors: Any, dim: int = 0, **_options: Any) -> Any:
    """torch.cat: one behind the other along an axis."""
    if not all(isinstance(each, KnownTensor) for each in tensors) or not tensors:
        return Unknown("torch.cat()")
    shape = list(tensors[0].shape)
    shape[dim] = sum(each.shape[dim] for each in tensors)
    return KnownTensor(tuple(shape), tensors[0].dtype, tensors[0].device)


def _named(name: str) -> dtype:
    return dtype.named[name]


def _place(where: Any) -> device:
    if where is None:
        return PLACE[-1] if PLACE else device("cpu")
    return where if isinstance(where, device) else device(where)
