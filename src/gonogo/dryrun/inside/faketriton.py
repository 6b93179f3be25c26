"""A triton that knows which driver is active."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .unknown import Unknown, as_the_real_one


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

    return {"triton.backends": fill_backends, "triton.runtime": fill_runtime}
