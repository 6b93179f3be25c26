"""What torch says when it is asked directly: expressions evaluated in the child, the values as text."""

from __future__ import annotations

import importlib
import json
import os
from types import ModuleType
from typing import Any

from gonogo_inside.child import _fork, _pipe, _waitpid  # type: ignore[import-not-found]
from gonogo_inside.unknown import MARK, is_unknown  # type: ignore[import-not-found]

_EACH = 40
#: What the real torch says where only a real device would do.
_NEEDS_A_DEVICE = (
    *("Could not run 'aten::", "no pinned memory allocator", "not linked with support for cuda"),
    "Cannot access accelerator device",
)


def answers(expressions: list[str]) -> dict[str, str]:
    """Expression → value. What one of them changes is not seen by the next: each has a process of its own."""
    return {expression: _in_a_fork(expression) for expression in expressions}


def _in_a_fork(expression: str) -> str:
    read, write = _pipe()
    process = _fork()
    if process == 0:
        try:
            os.write(write, json.dumps(_value(expression)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        text = file.read()
    _waitpid(process, 0)
    return str(json.loads(text)) if text else "no answer"


def _value(expression: str) -> str:
    import torch

    try:
        return _text(eval(expression, {"torch": torch}))[:2000]
    except AttributeError as error:
        return "something" if _is_module(expression) else f"AttributeError: {error}"
    except Exception as error:  # noqa: BLE001  whatever torch throws is the answer
        text = str(error)
        nobody_knows = MARK in text or any(words in text for words in _NEEDS_A_DEVICE)
        return "unknown" if nobody_knows else f"{type(error).__name__}: {text}"[:2000]


def _is_module(name: str) -> bool:
    """Does the expression name a module of torch that nobody has imported yet?"""
    if "(" in name:
        return False
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _text(value: Any) -> str:
    """Plain values as they are, and of tensors what start-up code may ask for."""
    if type(value).__name__ in ("Tensor", "KnownTensor") and "shape" in dir(value):
        return f"tensor {tuple(value.shape)} {value.dtype} on {value.device}"
    if is_unknown(value) and not isinstance(value, ModuleType):
        return "unknown"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} of {', '.join(_text(each) for each in value[:_EACH])}"
    if type(value).__module__ == "torch" and type(value).__name__ in ("dtype", "device"):
        return repr(value)
    return "something"
