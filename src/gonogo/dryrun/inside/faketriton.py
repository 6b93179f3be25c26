"""A triton that knows which driver is active."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from .unknown import Unknown, UnknownBase, as_the_real_one


class JITFunction(UnknownBase):
    """triton.runtime.jit.JITFunction: knows the function it would compile, and launches nothing."""

    __module__ = "triton.runtime.jit"

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.arg_names = list(inspect.signature(fn).parameters) if callable(fn) else []
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(self, name, getattr(fn, name, None))

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise as_the_real_one(RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel"))

    def __getitem__(self, _grid: Any) -> Any:
        return Unknown(f"{self.__name__}[grid]")


def jit(fn: Any = None, **_options: Any) -> Any:
    """triton.jit, bare or with options."""
    return JITFunction if fn is None else JITFunction(fn)


def describe(hardware: dict[str, Any]) -> dict[str, Callable[[Any], None]]:
    """Triton ships the backends of all vendors; the driver of the vendor whose GPUs are there is active."""
    vendor = hardware["gpu"]["vendor"]

    def fill_backends(m: Any) -> None:
        m.backends = {
            name: types.SimpleNamespace(driver=types.SimpleNamespace(is_active=lambda there=there: there))
            for name, there in (("nvidia", vendor == "nvidia"), ("amd", vendor == "amd"))
        }

    def fill_runtime(m: Any) -> None:
        """The active driver says what it compiles for; with no GPU there is none, and triton raises."""
        m.driver = Unknown("triton.runtime.driver")
        m.driver.active = Unknown("triton.runtime.driver.active")
        m.driver.active.get_current_target = target
        m.driver.active.get_current_device = lambda: 0

    def target() -> Any:
        if vendor == "cpu":
            raise as_the_real_one(RuntimeError("0 active drivers ([]). There should only be one."))
        gpu = hardware["gpu"]
        if vendor == "amd":
            return types.SimpleNamespace(backend="hip", arch=gpu["gfx"], warp_size=gpu["warp_size"])
        major, minor = gpu["capability"]
        return types.SimpleNamespace(backend="cuda", arch=10 * major + minor, warp_size=gpu["warp_size"])

    def fill_jit(m: Any) -> None:
        m.JITFunction = JITFunction

    def fill_triton(m: Any) -> None:
        m.jit = jit

    return {
        "triton": fill_triton,
        "triton.backends": fill_backends,
        "triton.runtime": fill_runtime,
        "triton.runtime.jit": fill_jit,
    }
