"""A message template: the literal text of an error message, with placeholders where values go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

HOLE = "{}"
"""How a placeholder is written in a template's normal form."""


@dataclass(frozen=True)
class Placeholder:
    """A position in a message that source alone does not fill.

    ``expression`` is the source text of what is put there, ``conversion`` one of ``r``, ``s``, ``a`` or empty, ``spec``
    the format spec as written (``.2f``; for ``%`` formatting what stood between ``%`` and the letter). ``choices`` are
    the texts that code chooses between there, where all that is known of them is in source (``"a" if x else "b"``); a
    choice may hold placeholders of its own.
    """

    expression: str
    conversion: str = ""
    spec: str = ""
    choices: tuple[Parts, ...] = ()


Parts = tuple[str | Placeholder, ...]
"""Literal pieces and placeholders, in order."""


@dataclass(frozen=True)
class Template:
    """One message as source describes it. ``parts`` keeps whitespace as written; ``text`` is the normal form."""

    parts: Parts

    @cached_property
    def text(self) -> str:
        """The normal form: each placeholder ``{}``, runs of whitespace one space, none at the ends.

        A literal brace stays as it is: the normal form is for people and for ids; ``pattern`` tells the two apart.
        """
        return collapse("".join(part if isinstance(part, str) else HOLE for part in self.parts))

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """The placeholders in order, one for each ``{}`` that ``text`` got from one."""
        return tuple(part for part in self.parts if isinstance(part, Placeholder))

    @cached_property
    def is_telling(self) -> bool:
        """Whether there is literal text with a letter in it; ``{}`` or ``{}: {}`` fits any message and names none."""
        return any(char.isalpha() for part in self.parts if isinstance(part, str) for char in part)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What every message of this template matches in full; one group for each of ``placeholders``.

        Whitespace matches any whitespace: logs wrap and indent.
        """
        return re.compile(_pattern(self.parts, grouped=True), re.DOTALL)

    def alternatives(self) -> tuple[Template, ...]:
        """The templates that code chooses between where the whole message is one choice; else this one alone."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Placeholder) and self.parts[0].choices:
            return tuple(inner for parts in self.parts[0].choices for inner in Template(parts).alternatives())
        return (self,)


def collapse(text: str) -> str:
    """``text`` with each run of whitespace as one space, and none at the ends."""
    return " ".join(text.split())


def merged(parts: Parts) -> Parts:
    """``parts`` with neighbouring literal pieces made one and empty ones dropped."""
    pieces: list[str | Placeholder] = []
    for part in parts:
        if isinstance(part, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += part
        elif part != "":
            pieces.append(part)
    return tuple(pieces)


def _pattern(parts: Parts, *, grouped: bool) -> str:
    return "".join(_pieces(merged(parts), grouped=grouped))


def _pieces(parts: Parts, *, grouped: bool) -> Iterator[str]:
    """Regular expressions of the parts, in order; the time a message takes grows with its length, not a power of it."""
    hole = "(.*?)" if grouped else ".*?"
    skip = 0
    for index, part in enumerate(parts):
        after = parts[index + 1 : index + 3]
        if skip:
            skip -= 1
        elif isinstance(part, str):
            yield _literal(part)
        elif part.choices:
            inner = "|".join(_pattern(choice, grouped=False) for choice in part.choices)
            yield f"({inner})" if grouped else f"(?:{inner})"
        elif after and _is_open(after[0]):
            # Which of two neighbours a value belongs to nobody can tell: the last takes all.
            yield "()" if grouped else ""
        elif len(after) == 2 and isinstance(after[0], str) and _is_open(after[1]):
            # Between two open ends the first place where the text stands is as good as any: no need to come back.
            yield f"(?>{hole}{_literal(after[0])})"
            skip = 1
        else:
            yield hole


def _is_open(part: str | Placeholder) -> bool:
    return isinstance(part, Placeholder) and not part.choices


def _literal(text: str) -> str:
    return r"\s+?".join(re.escape(word) for word in re.split(r"\s+", text))
