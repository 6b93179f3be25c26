"""A triton that knows which driver is active."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any


def describe(hardware: dict[str, Any]) -> dict[str, Callable[[Any], None]]:
    """Triton ships the backends of all vendors; the driver of the vendor whose GPUs are there is active."""
    vendor = hardware["gpu"]["vendor"]

    def fill_backends(m: Any) -> None:
        m.backends = {
            name: types.SimpleNamespace(driver=types.SimpleNamespace(is_active=lambda there=there: there))
            for name, there in (("nvidia", vendor == "nvidia"), ("amd", vendor == "amd"))
        }

    return {"triton.backends": fill_backends}
