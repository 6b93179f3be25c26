"""Launches in the shell text of documents and scripts, read as gonogo's users would give them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gonogo.engines.types import Engine
from gonogo.launches import Launch, Source, read_line
from gonogo.launches.shell import statements_of
from gonogo.problems import UsageProblem
from upstream.passages import Passage
from upstream.shelltext import LogicalLine, logical_lines

_KEYWORD = re.compile(r"^\s*(?:(?:then|do|else|if|while|until|!|\{)\s+)+")
_FRONT = re.compile(r"^\s*(?:[-*>]\s+|\d+\.\s+)?(?:[\w-]+:\s+)?(?P<quote>[`'\"]?)(?:[$%]\s+)?")
_ABOVE = re.compile(r"^\s*(?:[$%]\s+)?(?:export\s+)?[A-Z_][A-Z0-9_]*=\S*\s*$")
_OPTION = re.compile(r"^\s*--?[A-Za-z]")


@dataclass(frozen=True)
class Found:
    """A launch and where it stands; ``problem`` says why it could not be read, where it could not."""

    path: str
    line: int
    text: str
    launch: Launch | None = None
    problem: str | None = None


def commands(engine: Engine, path: str, passage: Passage) -> Iterator[Found]:
    """The launches of ``engine`` in a passage of the file ``path``."""
    starts = _starts(engine)
    lines = _prose_lines(passage.text, starts) if passage.kind == "prose" else _with_options(passage.text, starts)
    for line in lines:
        found = _read(engine, line, starts)
        if found is not None:
            launch, text, problem = found
            if passage.kind == "prose" and launch is not None and not _is_command(launch):
                continue
            place = passage.line + line.line - 1
            if launch is not None:
                launch = replace(launch, release=None, source=Source(path, place))
            yield Found(path, place, text, launch, problem)


def _starts(engine: Engine) -> re.Pattern[str]:
    """What a launch of the engine cannot do without: its command, its module, its image."""
    words = [rf"\b{re.escape(command)}\s+{re.escape(word)}(?=\s|$)" for command, word in engine.commands.items()]
    words += [rf"\s-m\s+{re.escape(module)}\b" for module in engine.modules]
    words += [rf"\brun\s[^|;&]*\b{re.escape(image)}[:@\s]" for image in engine.images]
    return re.compile("|".join(words))


def _with_options(text: str, starts: re.Pattern[str]) -> Iterator[LogicalLine]:
    """The logical lines with a launch; options right below one belong to it, as its writer means and a shell does not."""
    rows = text.splitlines()
    for line in logical_lines(text):
        if not starts.search(line.text):
            continue
        end = line.line - 1 + line.text.count("\n") + 1
        whole = line.text
        while end < len(rows) and _OPTION.match(rows[end]):
            whole += "\n" + rows[end]
            end += 1
        yield replace(line, text=whole)


def _prose_lines(text: str, starts: re.Pattern[str]) -> Iterator[LogicalLine]:
    """Launches that begin a line between sentences, as a list's item or a value too."""
    rows = text.splitlines()
    for number, row in enumerate(rows):
        found = starts.search(row)
        if found is None:
            continue
        begin = number
        while begin and rows[begin - 1].rstrip().endswith("\\"):
            begin -= 1
        above: list[str] = []
        at = begin
        while at and _ABOVE.match(rows[at - 1]):
            at -= 1
            above.insert(0, rows[at].strip().lstrip("$% "))
        front = _FRONT.match(rows[begin])
        head = rows[begin][front.end() if front else 0 :]
        if not _begins(head if begin < number else head[: head.find(found[0].strip()) + 1]):
            continue
        rest = rows[begin + 1 :]
        if front and front["quote"]:
            head, rest = head.rpartition(front["quote"])[0] or head, []
        until = next((at for at, line in enumerate(rest) if not line.strip()), len(rest))
        for line in _with_options("\n".join([head, *rest[:until]]), starts):
            if line.line == 1:
                yield LogicalLine(begin + 1, line.text, tuple(above))
            break


def _begins(front: str) -> bool:
    """Whether only programs, variables and options stand in what comes before the launch: no sentence does."""
    return all(
        re.match(r"[A-Z_][A-Z0-9_]*=|[a-z-]+$|--?\w|\\$|\S*/\S*$", word) for word in front.split()[:-1]
    ) and not re.search(
        r"\b(?:the|a|with|use|using|start|run|via|your|for|and|or)\s",
        front.removeprefix("docker run").removeprefix("uv run"),
    )


def _is_command(launch: Launch) -> bool:
    """Whether one word at most stands before the options: a sentence goes on."""
    return launch.entry != "command" or all(word.startswith("-") for word in launch.args[2:3])


def _read(engine: Engine, line: LogicalLine, starts: re.Pattern[str]) -> tuple[Launch | None, str, str | None] | None:
    """The launch in a logical line, its text, or the problem with it; None where it holds none after all."""
    first: str | None = None
    for text in (line.text, *_statements(line.text, starts)):
        text = _KEYWORD.sub("", text).strip()
        whole = "\n".join([*line.above, text])
        try:
            launch = read_line(whole)
        except UsageProblem as problem:
            first = first or str(problem)
            continue
        return (launch, whole, None) if launch.engine == engine.name else None
    return None, line.text, first


def _statements(text: str, starts: re.Pattern[str]) -> Iterator[str]:
    """The statements of ``text`` that hold a launch, one by one."""
    try:
        statements = statements_of(text)
    except UsageProblem:
        return
    places = [statement.pipeline[0].words[0].position for statement in statements] + [len(text)]
    for begin, end in itertools.pairwise(places):
        piece = text[begin:end].rstrip()
        piece = re.sub(r"(?:&&|\|\||;|&)\s*$", "", piece)
        if starts.search(piece):
            yield piece
