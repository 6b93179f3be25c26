"""Values that gonogo cannot know: they let code go on, say what they are, and log every decision taken on them."""

from __future__ import annotations

import importlib
import sys
import types
import typing
from typing import Any

from .decisions import DECISIONS, asking_frame, probed, survives_absence

#: Starts the text of every unknown value, so that one in an error message can be told.
MARK = "<unknown "
#: The other answer to "how much": beyond any threshold that code compares it with. Not for loops: they ask for an index.
_MUCH = 1 << 50
#: Where stand-ins say they were installed.
SITE = "/usr/local/lib/python3.12/dist-packages"


def _any_schema(*_args: Any, **_kwargs: Any) -> Any:
    from pydantic_core import core_schema

    return core_schema.any_schema()


def _is_decorated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Was an unknown called as a bare decorator?"""
    kinds = (types.FunctionType, type, staticmethod, classmethod, types.MethodType)
    return len(args) == 1 and not kwargs and isinstance(args[0], kinds) and not isinstance(args[0], UnknownClass)


class Handed:
    """What of the launch was handed to a stand-in to work on, and to which: whatever it was to do with it is not done."""

    watched: tuple[str, ...] = ()
    rows: typing.ClassVar[dict[str, str]] = {}

    @classmethod
    def note(cls, name: str, given: list[Any]) -> None:
        """``name`` was called with ``given``."""
        for value in given:
            if isinstance(value, str) and value.startswith(cls.watched):
                cls.rows.setdefault(value, name)


class UnknownClass(type(typing.Protocol)):  # type: ignore[misc]
    """The metaclass of unknown classes: they can be subclassed, subscripted, asked for attributes."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith(("__", "_abc")) or name in ("_is_protocol", "_fields"):
            raise AttributeError(name)
        return described_attribute(cls, name, f"{cls.__module__}.{cls.__qualname__}")

    def __getitem__(cls, _key: Any) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return typing.Union[cls, other] if isinstance(other, (type, type(None))) else typing.Any  # noqa: UP007

    def __ror__(cls, other: Any) -> Any:
        return cls.__or__(other)

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        if cls.__dict__.get("_gonogo_unknown") and isinstance(instance, Unknown):
            return bool(DECISIONS.take("isinstance", f"{instance!r} {cls.__module__}.{cls.__qualname__}", False, True))
        return False

    def register(cls, *args: Any, **kwargs: Any) -> Any:
        """ABCMeta's for the classes that it is meant for; of an unknown class it is one more unknown name."""
        if not cls.__dict__.get("_gonogo_unknown"):
            return super().register(*args, **kwargs)
        return Unknown(f"{cls.__module__}.{cls.__qualname__}.register()")

    def __subclasscheck__(cls, other: Any) -> bool:
        return type.__subclasscheck__(cls, other)


class UnknownBase(metaclass=UnknownClass):
    """What unknown classes derive from, and engine classes that derive from those."""

    __get_pydantic_core_schema__ = classmethod(_any_schema)

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def __init_subclass__(cls, **_kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return described_attribute(self, name, f"{type(self).__module__}.{type(self).__qualname__}()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _is_decorated(args, kwargs):
            return args[0]
        return Unknown(f"{type(self).__qualname__}()()")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_args: Any) -> bool:
        return False


class Unknown:
    """One value that is not known. Calling it or asking it for an attribute gives another."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_gonogo_name", name)

    __get_pydantic_core_schema__ = _any_schema

    def __repr__(self) -> str:
        return f"{MARK}{self._gonogo_name}>"

    def __format__(self, _spec: str) -> str:
        return repr(self)

    def __getattr__(self, name: str) -> Any:
        # ctypes would ask for _as_parameter_ without end: no C function takes what is unknown.
        if (name.startswith("__") and name.endswith("__")) or name == "_as_parameter_":
            raise AttributeError(name)
        return described_attribute(self, name, self._gonogo_name)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _is_decorated(args, kwargs):
            return args[0]
        if Handed.watched:
            Handed.note(self._gonogo_name, [*args, *kwargs.values()])
        return Unknown(f"{self._gonogo_name}()"[:200])

    def __mro_entries__(self, _bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (UnknownBase,)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_args: Any) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return bool(DECISIONS.take("truth", self._gonogo_name, False, True))

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        return bool(DECISIONS.take("compare", f"{self._gonogo_name} == {_short(other)}", False, True))

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __len__(self) -> int:
        return int(DECISIONS.take("len", self._gonogo_name, 0, 1))

    def __iter__(self) -> Any:
        many = int(DECISIONS.take("iterate", self._gonogo_name, 0, 1))
        return iter([Unknown(f"{self._gonogo_name}[{i}]") for i in range(many)])

    def __contains__(self, item: Any) -> bool:
        return bool(DECISIONS.take("in", f"{_short(item)} in {self._gonogo_name}", False, True))

    def __int__(self) -> int:
        return int(DECISIONS.take("int", self._gonogo_name, 0, _MUCH))

    def __index__(self) -> int:
        return int(DECISIONS.take("index", self._gonogo_name, 0, 1))

    def __float__(self) -> float:
        return float(DECISIONS.take("float", self._gonogo_name, 0.0, float(_MUCH)))

    def __getitem__(self, key: Any) -> Any:
        return Unknown(f"{self._gonogo_name}[{_short(key)}]"[:200])

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __or__(self, other: Any) -> Any:
        return typing.Any if isinstance(other, type) or other is None else Unknown(f"({self._gonogo_name} |)"[:200])

    __ror__ = __or__


def _short(value: Any) -> str:
    return repr(value)[:60]


def _ordering(sign: str) -> Any:
    def compare(self: Any, other: Any) -> bool:
        return bool(DECISIONS.take("compare", f"{self._gonogo_name} {sign} {_short(other)}", False, True))

    return compare


def _arithmetic(sign: str) -> Any:
    def operate(self: Any, *_other: Any) -> Any:
        return Unknown(f"({self._gonogo_name} {sign})"[:200])

    return operate


def _divide(self: Any, *_other: Any) -> Any:
    return Unknown(f"({self._gonogo_name} //)"[:200]), Unknown(f"({self._gonogo_name} %)"[:200])


for _name in ("__divmod__", "__rdivmod__"):
    setattr(Unknown, _name, _divide)
for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(Unknown, f"__{_name}__", _ordering(_sign))
for _name in [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "and",
    "rand",
    "lshift",
    "rlshift",
    "rshift",
    "rrshift",
    "neg",
    "pos",
    "abs",
    "matmul",
    "rmatmul",
    "xor",
    "rxor",
    "invert",
    "round",
    "trunc",
    "floor",
    "ceil",
]:
    setattr(Unknown, f"__{_name}__", _arithmetic(_name))


def unknown(qualified: str) -> Any:
    """An unknown value of that name: a class where the name looks like one, so that it can be subclassed."""
    base = qualified.rsplit(".", 1)[-1].lstrip("_")
    if base[:1].isupper() and base.endswith(("Error", "Exception")):  # or no code could name it in an except clause
        return type(base, (RuntimeError,), {"__module__": qualified.rpartition(".")[0]})
    if base[:1].isupper() and not (base.isupper() and len(base) > 1):
        module, _, name = qualified.rpartition(".")
        return UnknownClass(name, (UnknownBase,), {"__module__": module, "__qualname__": name, "_gonogo_unknown": True})
    return Unknown(qualified)


def described_attribute(owner: Any, name: str, owner_name: str) -> Any:
    """An attribute that nobody described: there by default; its absence is a decision where code would survive it."""
    frame = asking_frame()
    if survives_absence(frame):
        kind = "hasattr" if probed(frame) else "attribute"
        if not DECISIONS.take(kind, f"{owner_name}.{name}", True, False):
            raise AttributeError(f"{owner_name!r} has no attribute {name!r}")
    value = unknown(f"{owner_name}.{name}")
    if isinstance(owner, type):
        type.__setattr__(owner, name, value)
    else:
        object.__setattr__(owner, name, value)
    return value


class FakeModule(types.ModuleType):
    """A stand-in module: what is described is real, names listed as missing are missing, all else is unknown."""

    described: typing.ClassVar[frozenset[str]] = frozenset()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        missing = self.__dict__.get("_gonogo_missing", ())
        if name in missing:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        full = f"{self.__name__}.{name}"
        if full in sys.modules:
            return sys.modules[full]
        if full in FakeModule.described:
            return importlib.import_module(full)
        frame = asking_frame()
        if survives_absence(frame):
            kind = "hasattr" if probed(frame) else "attribute"
            if not DECISIONS.take(kind, full, True, False):
                raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = unknown(full)
        self.__dict__[name] = value
        return value


def is_unknown(value: Any) -> bool:
    """Is this a fake of any sort: an unknown value or class, an instance of one, a stand-in module?"""
    return isinstance(value, (Unknown, UnknownClass, FakeModule)) or isinstance(type(value), UnknownClass)


def as_the_real_one(error: BaseException) -> BaseException:
    """Mark an exception that a stand-in raises just where the real library raises it too: the library's, not our fault."""
    error.__dict__["_gonogo_real"] = True
    return error
