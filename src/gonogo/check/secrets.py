"""Secrets of a launch: keys, tokens and passwords, taken out before anything of gonogo's sees the launch.

A dry run needs to know that a key is set, never which. So a launch is made free of secrets first; the child, the cache
and the reports only ever hold the placeholder. What is a secret is told by the name it stands under, for no engine in
particular.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gonogo.launches.types import Launch

PLACEHOLDER = "***"

_NAME = (
    r"(?:[a-z0-9]+[_-])*"
    r"(?:api[_-]?keys?|secrets?|(?:secret|access|private|master)[_-]key|access[_-]key[_-]id|passwd|password|passphrase"
    r"|credentials?|(?:api|auth|access|bearer|session|security|refresh|hf|hub|github|gitlab)[_-]token)"
)
# Among options and in JSON a token is mostly one of text (--seed-token), among variables it is a secret.
_NAME_OF_OPTION = re.compile(_NAME, re.IGNORECASE)
_NAME_OF_VARIABLE = re.compile(rf"{_NAME}|(?:[a-z0-9]+_)*token", re.IGNORECASE)
# What a switch of such a name is set to (..._PER_TOKEN=1): it says how to run, and hides nothing.
_SWITCH = re.compile(r"|\d{1,4}|true|false|on|off|yes|no|none|null|auto", re.IGNORECASE)
# In a longer text (bash -c '...'): NAME=VALUE, --name=VALUE, --name VALUE, each with or without quotes.
_VALUE = r"([\"']?)([^\s\"'`;&|]+)"
_OPTION_IN_TEXT = re.compile(rf"(?<![\w-])(--{_NAME}(?:=|\s+(?!-)))" + _VALUE, re.IGNORECASE)
_VARIABLE_IN_TEXT = re.compile(rf"(?<![\w-])((?:{_NAME}|(?:[a-z0-9]+_)*token)=)" + _VALUE, re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@:]*:[^/\s@]+(?=@)")
_IN_HEADER = re.compile(r"(?<=\bBearer )[^\s\"']+|(?<=\bBasic )[A-Za-z0-9+/=]{8,}", re.IGNORECASE)
# A shorter value is taken out where its name says what it is, not wherever its letters happen to stand.
_SHORTEST_ANYWHERE = 8


def without_secrets(launch: Launch) -> Launch:
    """``launch`` with a placeholder for every secret in its words, arguments and environment."""
    values = _secrets_in((*launch.argv, *launch.args), launch.env)
    values |= {value for value in _secret_leaves([launch.arguments, *launch.positional]) if _is_telling(value)}
    return replace(
        launch,
        argv=tuple(_masked_words(launch.argv, values)),
        args=tuple(_masked_words(launch.args, values)),
        arguments=_masked_json(launch.arguments, values),
        positional=tuple(_masked_json(value, values) for value in launch.positional),
        env=_masked_env(launch.env, values),
        notes=tuple(_masked_text(note, values) for note in launch.notes),
    )


def without_secrets_of(text: str, words: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """``text``, which may quote ``words`` or ``env``, with a placeholder for their secrets."""
    return _masked_text(text, _secrets_in(words, env or {}))


def _secrets_in(words: Sequence[str], env: Mapping[str, str]) -> set[str]:
    """Values under a secret's name that are long enough to be looked for everywhere."""
    found = {value for name, value in env.items() if _is_variable(name, value)}
    found |= {words[at] for at in _value_places(words)}
    for word in words:
        for pattern in (_OPTION_IN_TEXT, _VARIABLE_IN_TEXT):
            found |= {match[3] for match in pattern.finditer(word) if not _SWITCH.fullmatch(match[3])}
        found |= {match[0] for match in _IN_HEADER.finditer(word)}
        found |= set(_secret_leaves(_json_in(word)[1]))
    return {value for value in found if _is_telling(value)}


def _is_telling(value: str) -> bool:
    return len(value) >= _SHORTEST_ANYWHERE


def _is_variable(name: str, value: str) -> bool:
    return _NAME_OF_VARIABLE.fullmatch(name) is not None and not _SWITCH.fullmatch(value)


def _is_field(name: object, value: object) -> bool:
    """Whether a keyword argument or a field of a JSON object holds a secret."""
    if not isinstance(name, str) or not isinstance(value, str) or _SWITCH.fullmatch(value):
        return False
    return _NAME_OF_OPTION.fullmatch(name) is not None


def _value_places(words: Sequence[str]) -> Iterator[int]:
    """Where the values of options of such a name stand: ``--api-key A B``.

    The first behind the option, and those up to the next option that can be no model: a word with a slash may be what
    the engine is to serve.
    """
    at = 0
    while at < len(words):
        name = words[at]
        at += 1
        if not name.startswith("--") or not _NAME_OF_OPTION.fullmatch(name[2:]):
            continue
        first = at
        while at < len(words) and not words[at].startswith("-"):
            if not _SWITCH.fullmatch(words[at]) and (at == first or "/" not in words[at]):
                yield at
            at += 1


def _masked_words(words: Sequence[str], values: set[str]) -> Iterator[str]:
    places = set(_value_places(words))
    for at, word in enumerate(words):
        yield PLACEHOLDER if at in places else _masked_word(word, values)


def _masked_word(word: str, values: set[str]) -> str:
    """A word that is no value of its own: ``--api-key=VALUE``, JSON, a line for a shell, an address."""
    front, content = _json_in(word)
    if any(True for _ in _secret_leaves(content)):
        return front + json.dumps(_masked_json(content, values), ensure_ascii=False)
    return _masked_text(word, values)


def _masked_text(text: str, values: set[str]) -> str:
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, PLACEHOLDER)
    for pattern in (_OPTION_IN_TEXT, _VARIABLE_IN_TEXT):
        text = pattern.sub(_masked_match, text)
    return _IN_ADDRESS.sub(PLACEHOLDER, _IN_HEADER.sub(PLACEHOLDER, text))


def _masked_match(match: re.Match[str]) -> str:
    return match[0] if _SWITCH.fullmatch(match[3]) else match[1] + match[2] + PLACEHOLDER


def _masked_env(env: Mapping[str, str], values: set[str]) -> dict[str, str]:
    return {
        name: PLACEHOLDER if _is_variable(name, value) else _masked_word(value, values) for name, value in env.items()
    }


def _masked_json(value: Any, values: set[str]) -> Any:
    if isinstance(value, dict):
        return {
            name: PLACEHOLDER if _is_field(name, inner) else _masked_json(inner, values)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_masked_json(inner, values) for inner in value]
    return _masked_text(value, values) if isinstance(value, str) else value


def _secret_leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if _is_field(name, inner):
                yield inner
            yield from _secret_leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _secret_leaves(inner)


def _json_in(word: str) -> tuple[str, Any]:
    """What stands before the JSON of ``{...}`` or ``--option={...}``, and its content; None where there is none."""
    name, equals, rest = word.partition("=")
    front, text = (name + equals, rest) if equals and name.startswith("-") else ("", word)
    if text[:1] not in ("{", "["):
        return front, None
    try:
        return front, json.loads(text)
    except (ValueError, RecursionError):
        return front, None
