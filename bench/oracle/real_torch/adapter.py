"""Stands before an engine's own adapter in a child, and puts the device facts into the real torch as it is imported.

Copied into a folder of its own, with the folder ``engine`` and ``facts.json`` beside it: the engine's name, and the device
(null where torch is a stand-in). It answers two questions itself: what the engine's parser knows, and what torch says.
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
if _facts["device"] is not None:
    _load("gonogo_pretend_device", "pretend_device.py").install(_facts["device"])
_engine = _load("gonogo_engine_adapter", "engine", "inside.py")


class _Told(dict[str, str]):
    """An answer of the adapter's own."""


def call(target: str, positional: list[Any], arguments: Mapping[str, Any]) -> None:
    """A Python launch, or a question."""
    if target == "gonogo_read_flags":
        flags = _load("gonogo_read_flags", "read_flags.py").flags(_facts["engine"])
        raise Reached("an answer", _Told(flags=json.dumps(flags)))
    if target == "gonogo_ask_torch":
        raise Reached("an answer", _Told(_load("gonogo_ask_torch", "evaluate.py").answers(positional)))
    _engine.call(target, positional, arguments)


def resolved(config: Any) -> dict[str, Any]:
    """What the engine settled on, or the answer."""
    return config if isinstance(config, _Told) else dict(_engine.resolved(config))


def __getattr__(name: str) -> Any:
    """All else that the child asks of an adapter is the engine's own."""
    return getattr(_engine, name)
