"""inspect.getsource of classes, with each file parsed once: engines read their field docs that way, dozens of times a launch."""

from __future__ import annotations

import ast
import inspect
from typing import Any

_LINES: dict[str, dict[str, int]] = {}


def install() -> None:
    """Let inspect.findsource remember where the classes of a file start. From Python 3.13 on classes know it themselves."""
    if not hasattr(inspect, "_ClassFinder"):
        return
    ordinary: Any = inspect.findsource

    def findsource(object: Any) -> Any:
        if not inspect.isclass(object):
            return ordinary(object)
        try:
            lines, at = _cached(object)
        except Exception:
            return ordinary(object)
        return lines, at

    inspect.findsource = findsource


def _cached(kind: type) -> tuple[list[str], int]:
    """The lines of the file of ``kind``, and the index of its first. Raises whatever is in the way."""
    import linecache

    file = inspect.getsourcefile(kind) or inspect.getfile(kind)
    lines = linecache.getlines(file)
    if file not in _LINES:
        finder = _Classes()
        finder.visit(ast.parse("".join(lines)))
        _LINES[file] = finder.lines
    return lines, _LINES[file][kind.__qualname__]


class _Classes(ast.NodeVisitor):
    """Qualified name of every class → index of its first line, decorators included; the first of several is the one."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self._stack: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._stack.append(node.name)
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        self.lines.setdefault(".".join(self._stack), first - 1)
        self.generic_visit(node)
        self._stack.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._stack += [node.name, "<locals>"]
        self.generic_visit(node)
        del self._stack[-2:]

    visit_AsyncFunctionDef = visit_FunctionDef
