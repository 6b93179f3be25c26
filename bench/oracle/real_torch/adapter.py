"""Stands before an engine's own adapter in a child that has the real torch: puts the device facts into it as it is imported.

Copied into a folder of its own with ``facts.json`` (the hardware, and the label of the pretend build) and the folder
``engine`` beside it. What torch is written in Python runs as it is: facts are given where its C code would ask the driver.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any
from gonogo_inside.processes import Reached  # type: ignore[import-not-found]

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name: str, *place: str) -> ModuleType:
    """A module from a file beside this one."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(_HERE, *place))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


with open(os.path.join(_HERE, "facts.json"), encoding="utf-8") as _file:
    _facts = json.load(_file)
_load("gonogo_pretend_device", "pretend_device.py").install(_facts)
_engine = _load("gonogo_engine_adapter", "engine", "inside.py")


def call(target: str, positional: list[Any], arguments: Mapping[str, Any]) -> None:
    """A Python launch; one that names read_flags.py has the parser read out."""
    if target != "gonogo_read_flags":
        _engine.call(target, positional, arguments)
        return
    reader = _load("gonogo_read_flags", "read_flags.py")
    raise Reached("the flags", _Flags(json.dumps(reader.flags(_facts["engine"]))))


def resolved(config: Any) -> dict[str, Any]:
    """What the engine settled on; for flags, themselves."""
    return {"flags": config} if isinstance(config, _Flags) else dict(_engine.resolved(config))


class _Flags(str):
    """A parser, as JSON."""


def __getattr__(name: str) -> Any:
    """All else that the child asks of an adapter is the engine's own."""
    return getattr(_engine, name)
