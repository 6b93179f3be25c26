"""The stretches of a file in which commands or Python code stand: fenced blocks, scripts, comments, docstrings."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["shell", "python", "prose"]

SUFFIXES = (".md", ".rst", ".txt", ".sh", ".py", ".yaml", ".yml")
_FENCE = re.compile(r"^([\s>]*)(`{3,}|~{3,})\s*([A-Za-z+]*)")
_PYTHON = frozenset({"python", "py", "pycon"})
_SHELL = frozenset({"", "bash", "sh", "shell", "console", "zsh", "text"})
_PROSE = frozenset({"yaml", "yml", "dockerfile", "toml"})  # commands in values
_COMMENT = re.compile(r"^\s*#+(?:\s|$)")


@dataclass(frozen=True)
class Passage:
    """A stretch of a file. ``line`` is that of its first line; ``prose`` holds commands between sentences."""

    kind: Kind
    line: int
    text: str


def passages(name: str, text: str) -> Iterator[Passage]:
    """The passages of the file called ``name``."""
    if name.endswith(".py"):
        yield Passage("python", 1, text)
        yield from _comments(text)
        yield from _docstrings(text)
    elif name.endswith(".sh"):
        yield Passage("shell", 1, text)
        yield from _comments(text)
    else:
        yield from _fenced(text)
        if name.endswith((".yaml", ".yml")):
            yield from _outside_of_fences(text)


def _fenced(text: str) -> Iterator[Passage]:
    """The fenced blocks of Markdown, at any depth (in a list, a quotation, a YAML string)."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        at += 1
        if opening is None:
            continue
        indent, fence, language = opening.groups()
        closing = re.compile(rf"^[\s>]*{re.escape(fence[0])}{{{len(fence)},}}\s*$")
        block: list[str] = []
        start = at
        while at < len(lines) and not closing.match(lines[at]):
            block.append(lines[at])
            at += 1
        at += 1
        if ">" in indent:
            block = [re.sub(r"^\s*>\s?", "", line) for line in block]
        kind = _kind(language.lower())
        if kind is not None:
            yield Passage(kind, start + 1, textwrap.dedent("\n".join(block)))


def _kind(language: str) -> Kind | None:
    if language in _PYTHON:
        return "python"
    if language in _PROSE:
        return "prose"
    return "shell" if language in _SHELL else None


def _outside_of_fences(text: str) -> Iterator[Passage]:
    """What a YAML file says outside of the Markdown in it: its commands stand in values."""
    inside: str | None = None
    kept: list[str] = []
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if inside is None:
            kept.append("" if fence else line)
            inside = fence[2] if fence else None
        else:
            kept.append("")
            inside = None if fence and fence[2].startswith(inside) and not fence[3] else inside
    yield Passage("prose", 1, "\n".join(kept))


def _comments(text: str) -> Iterator[Passage]:
    """Blocks of whole-line comments, without their ``#``."""
    block: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate([*lines, ""], 1):
        if _COMMENT.match(line):
            block.append(re.sub(r"^\s*#+ ?", "", line))
            continue
        if block:
            yield Passage("prose", number - len(block), "\n".join(block))
        block = []


def _docstrings(text: str) -> Iterator[Passage]:
    """Docstrings of a Python file, and other strings that stand alone; in them fenced blocks count as such."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as said)) if "\n" in said:
                # Escapes may join lines, so the source is read and not the value.
                source = ast.get_source_segment(text, node) or said
                yield Passage("prose", node.lineno, source.strip("\"'rRuUfFbB"))
