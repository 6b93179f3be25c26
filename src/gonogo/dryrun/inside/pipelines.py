"""Shell pipelines over known tools: the few filters by which engines read a tool's output."""

from __future__ import annotations

import re
import shlex


class Unreadable(Exception):
    """A pipeline that is not understood."""


def split(command: str) -> list[list[str]]:
    """The words of each command of a pipeline. Raises Unreadable for anything that is more than that."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError as error:
        raise Unreadable(command) from error
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            parts.append([])
        elif set(word) <= set("|&;()<>"):
            raise Unreadable(command)
        else:
            parts[-1].append(word)
    if not all(parts):
        raise Unreadable(command)
    return parts


def apply(words: list[str], text: str) -> str:
    """What a filter makes of ``text``. Raises Unreadable for a filter or option that is not known."""
    name, options = words[0], words[1:]
    lines = text.splitlines()
    if name == "grep":
        lines = _grep(options, lines)
    elif (
        name == "awk" and len(options) == 1 and (match := re.fullmatch(r"\s*\{\s*print \$(\d+);?\s*\}\s*", options[0]))
    ):
        at = int(match[1])
        lines = [line if at == 0 else (line.split() + [""] * at)[at - 1] for line in lines]
    elif name in ("head", "tail"):
        count = _count(options)
        lines = lines[:count] if name == "head" else lines[-count:]
    elif name == "wc" and options == ["-l"]:
        lines = [str(len(lines))]
    elif name in ("sort", "uniq") and not options:
        lines = (
            sorted(lines)
            if name == "sort"
            else [line for at, line in enumerate(lines) if not at or line != lines[at - 1]]
        )
    else:
        raise Unreadable(shlex.join(words))
    return "".join(line + "\n" for line in lines)


def _grep(options: list[str], lines: list[str]) -> list[str]:
    after, flags, invert, pattern = 0, 0, False, None
    rest = iter(options)
    for word in rest:
        if word == "-A":
            after = int(next(rest, "0"))
        elif word == "-i":
            flags = re.IGNORECASE
        elif word == "-v":
            invert = True
        elif word == "-E":
            continue
        elif word.startswith("-") or pattern is not None:
            raise Unreadable(shlex.join(["grep", *options]))
        else:
            pattern = word
    if pattern is None:
        raise Unreadable("grep")
    kept: set[int] = set()
    for number, line in enumerate(lines):
        if bool(re.search(pattern, line, flags)) != invert:
            kept.update(range(number, min(number + after + 1, len(lines))))
    return [lines[number] for number in sorted(kept)]


def _count(options: list[str]) -> int:
    text = "".join(options)
    match = re.fullmatch(r"(?:-n ?|-)?(\d+)?", text)
    if match is None:
        raise Unreadable(text)
    return int(match[1] or 10)
