"""What the child is asked for one launch: how to enter the engine, and the model facts that the launch itself points at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from gonogo.launches.types import Launch
from gonogo.models.find import Models
from gonogo.models.types import ModelFacts

_FILE_NAME = re.compile(r"[\w.+-]+\.[a-z][a-z0-9]{0,5}")

#: Variables that put code into the interpreter. Set by a launch, they could make the engine another program.
_CODE_VARIABLES = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "LD_PRELOAD",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
)


def request_for(launch: Launch, models: Models) -> dict[str, Any]:
    """The request without any model of a hub: those are asked for when the engine asks."""
    paths: dict[str, Any] = {}
    words = sorted(set(_words(launch)))
    for word in words:
        facts = models.local(word) if 0 < len(word) < 4096 and "\0" not in word else None
        if facts is not None:
            paths[word.rstrip("/") or word] = facts_of(facts)
    return {
        "entry": launch.entry,
        "target": launch.target,
        "args": list(launch.args),
        "arguments": launch.arguments,
        "positional": list(launch.positional),
        "env": dict(launch.env),
        "paths": paths,
        "models": {},
        "watched": [word for word in words if _may_be_path(word)],
    }


def _may_be_path(word: str) -> bool:
    """Could this word of a launch name a file or folder?"""
    return len(word) < 4096 and word[:1] not in ("{", "[", "-") and ("/" in word or bool(_FILE_NAME.fullmatch(word)))


def facts_of(facts: ModelFacts) -> dict[str, Any]:
    """Model facts in JSON's types."""
    listed = None if facts.listed is None else sorted(facts.listed)
    return {
        "files": {name: str(path) for name, path in facts.files.items()},
        "listed": listed,
        "absent": sorted(facts.absent),
        "stand_in": facts.stand_in is not None,
    }


def code_variables(launch: Launch) -> list[str]:
    """Variables of the launch that would bring code of its own into the engine."""
    return [name for name in _CODE_VARIABLES if launch.env.get(name)]


def _words(launch: Launch) -> Iterator[str]:
    """Every text that the launch says, the ones inside JSON and behind ``=`` too."""
    for word in (*launch.args, *launch.env.values()):
        yield word
        _, equals, value = word.partition("=")
        if equals:
            yield value
        text = value if equals and value[:1] in "{[" else word
        if text[:1] in ("{", "["):
            try:
                yield from _leaves(json.loads(text))
            except (ValueError, RecursionError):
                continue
    yield from _leaves([launch.arguments, list(launch.positional)])


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
