"""Commands in shell text: its logical lines, and what each of them finds assigned above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gonogo.launches.shell import Statement, UnclosedProblem, statements_of
from gonogo.problems import UsageProblem

_PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?[$%]\s+")
_HERE = re.compile(r"(?<!<)<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
_OPENS = re.compile(r"(?:^|[\s;&|])(?:if|for|while|until|case|select)\s|(?:^|\s)\w+\s*\(\)\s*\{|^\s*\{\s*$")
_CLOSES = re.compile(r"(?:^|[\s;])(?:fi|done|esac)(?=$|[\s;&|>)])|^\s*\}")
_ASSIGNED = re.compile(r"(?:^|[\s;(])([A-Za-z_]\w*)\+?=|\bfor\s+([A-Za-z_]\w*)\s+in\b")
_READ = re.compile(r"\bread\s([^;|&<\n]*)")
_MOST_LINES = 60


@dataclass(frozen=True)
class LogicalLine:
    """One command line, however many lines it is written on; ``line`` is the first of them.

    ``above`` are the assignments before it that hold for certain, as statements of shell.
    """

    line: int
    text: str
    above: tuple[str, ...]


def logical_lines(text: str) -> Iterator[LogicalLine]:
    """The logical lines of ``text``: backslashes, open quotes and brackets go on in the next, prompts are dropped.

    A name that a loop, a branch or a function assigns is not certain any more, until it is assigned again outside.
    """
    lines = [_PROMPT.sub("", line) for line in text.splitlines()]
    at, depth = 0, 0
    assigned = _Assigned()
    while at < len(lines):
        start = at
        whole = lines[at]
        at += 1
        if not whole.strip() or whole.lstrip().startswith("#"):
            continue
        while at < len(lines) and at - start < _MOST_LINES and _goes_on(whole):
            whole += "\n" + lines[at]
            at += 1
        if at - start > 1 and _is_open(whole):
            whole, at = lines[start], start + 1  # a lone apostrophe, not a quote
        here = _HERE.search(whole)
        if here:
            while at < len(lines) and lines[at].strip() != here[2]:
                at += 1
            at += 1
        yield LogicalLine(start + 1, whole, tuple(dict.fromkeys(assigned.statements.values())))
        opened, closed = len(_OPENS.findall(whole)), len(_CLOSES.findall(whole))
        assigned.take(whole, certain=depth == 0 and not opened)
        depth = max(0, depth + opened - closed)


@dataclass
class _Assigned:
    """What the lines so far have assigned for certain: name → the statement that did."""

    statements: dict[str, str] = field(default_factory=dict)

    def take(self, line: str, certain: bool) -> None:
        names = [name for found in _ASSIGNED.findall(line) for name in found if name]
        names += [name for found in _READ.findall(line) for name in found.split()]
        plain = _plain_assignment(line) if certain else None
        for name in names if plain is None else plain:
            self.statements.pop(name, None)
            if plain is not None:
                self.statements[name] = line


def _plain_assignment(line: str) -> list[str] | None:
    """The names that ``line`` assigns (or exports with a value), where it does nothing else."""
    statements = _parsed(line)
    if not statements or len(statements) != 1 or len(statements[0].pipeline) != 1:
        return None
    words = statements[0].pipeline[0].words
    if words[0].assigns is None:
        first = words[0].pieces
        if len(first) != 1 or first[0].text != "export":
            return None
        words = words[1:]
    names = [word.assigns for word in words]
    return [name for name in names if name] if names and all(names) else None


def _parsed(text: str) -> list[Statement] | None:
    try:
        return statements_of(text)
    except UsageProblem:
        return None


def _goes_on(text: str) -> bool:
    last = text.rsplit("\n", 1)[-1]
    if (len(last) - len(last.rstrip("\\"))) % 2 == 1:
        return True
    return _is_open(text)


def _is_open(text: str) -> bool:
    """Whether a quote or bracket in ``text`` is still to be closed."""
    try:
        statements_of(text)
    except UnclosedProblem:
        return True
    except UsageProblem:
        return False
    return False
