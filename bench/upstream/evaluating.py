"""Put behind an engine's own ``inside.py`` in the child: a launch may be expressions of a test, evaluated one by one.

Such a launch calls ``expressions`` with ``steps``, ``imports``, ``expected`` and ``match`` (see blocks.Case). An exception that
``pytest.raises(expected, match=match)`` would let pass is marked with a note, which its traceback shows.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

AS_EXPECTED = "gonogo-bench: as the test expects"
NOT_IMPORTED = "gonogo-bench: what the test imports is not there"

_call = globals().get("call")


def call(target: str, positional: list[Any], arguments: dict[str, Any]) -> None:
    """A Python launch, or the expressions of a test."""
    if target != "expressions":
        assert _call is not None
        _call(target, positional, arguments)
        return
    names = {name: _imported(*where) for name, where in arguments["imports"].items()}
    # Like a test session, which has made its imports and its parameters before it comes to the block.
    expected = eval(arguments["expected"], dict(names))
    match = eval(arguments["match"], dict(names)) if arguments["match"] else None
    try:
        for step in arguments["steps"]:
            eval(step, dict(names))
    except BaseException as error:
        if isinstance(error, expected) and (match is None or re.search(match, str(error))):
            error.add_note(AS_EXPECTED)
        raise


def _imported(module: str, attribute: str | None) -> Any:
    try:
        found = importlib.import_module(module)
        if attribute is None:
            return found
        return (
            getattr(found, attribute) if hasattr(found, attribute) else importlib.import_module(f"{module}.{attribute}")
        )
    except ImportError as error:
        error.add_note(NOT_IMPORTED)
        raise
