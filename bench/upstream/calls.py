"""Launches in Python code: calls of an engine's classes, with what their arguments' names stand for."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from gonogo.engines.types import Engine
from gonogo.launches import Source
from gonogo.launches.calls import read_expression
from gonogo.launches.programs import engine_of_call
from gonogo.problems import UsageProblem
from upstream.commands import Found
from upstream.names import Function, Reader
from upstream.passages import Passage


def calls(engine: Engine, path: str, passage: Passage) -> Iterator[Found]:
    """The calls of the classes of ``engine`` in a Python passage of the file ``path``."""
    try:
        tree = ast.parse(_code(passage.text))
    except (SyntaxError, ValueError):
        return  # a sketch of code
    reader = Reader(tree)
    registers = _registers(tree)
    for node, function in calls_in(tree, None):
        found = engine_of_call(dotted(node.func))
        if found is None or found[0].name != engine.name:
            continue
        place = passage.line + node.lineno - 1
        text = ast.unparse(reader.filled_in(node, reader.values_at(node, function, {})))
        try:
            launch = read_expression(text)
        except UsageProblem as problem:
            yield Found(path, place, text, None, str(problem))
            continue
        if registers:
            launch = replace(launch, unread=(*launch.unread, registers))
        yield Found(path, place, text, replace(launch, source=Source(path, place)))


def _registers(tree: ast.Module) -> str | None:
    """The function by which this code adds something of its own to the engine, if it does: then it is another engine."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            if name.rpartition(".")[2].startswith("register_"):
                return f"what {name}() has added"
    return None


def calls_in(node: ast.AST, function: Function | None) -> Iterator[tuple[ast.Call, Function | None]]:
    """All calls below ``node``, in the order of the source, each with the function that it stands in."""
    if isinstance(node, Function):
        function = node
    if isinstance(node, ast.Call):
        yield node, function
    for child in ast.iter_child_nodes(node):
        yield from calls_in(child, function)


def dotted(node: ast.expr) -> str:
    """``a.b.c`` as text; empty for anything but names and attributes."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            front = dotted(value)
            return f"{front}.{name}" if front else ""
    return ""


def _code(text: str) -> str:
    """``text`` without the prompts of an interactive session and the marks of MkDocs."""
    lines = textwrap.dedent(text).splitlines()
    if any(line.startswith(">>> ") for line in lines):
        lines = [line[4:] if line.startswith((">>> ", "... ")) else "" for line in lines]
    return "\n".join(lines)
