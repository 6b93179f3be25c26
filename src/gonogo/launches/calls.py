"""One Python expression that builds an engine: ``LLM(model=..., tensor_parallel_size=2)``. Read, never run."""

from __future__ import annotations

import ast
import math
import operator
import re
import textwrap
from collections.abc import Callable
from typing import Any

from gonogo.launches.programs import engine_of_call, expected
from gonogo.launches.types import Launch
from gonogo.problems import UsageProblem

_EXPRESSION = re.compile(
    r"\s*(?:(?:from|import)\s[^\n;]*[;\n]\s*)*"  # from vllm import LLM;
    r"(?:[A-Za-z_][\w.]*\s*(?::[^=\n]*)?=\s*)?"  # llm =
    r"(?:await\s+)?[A-Za-z_][\w.]*\s*\("
)
_LONGEST_SHOWN = 60
_LARGEST = 1 << 64  # no setting is larger, and 9**9**9 shall not keep anybody waiting
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


class _NotLiteralError(Exception):
    """The value of a node is only known once the program runs."""


def is_expression(text: str) -> bool:
    """Whether ``text`` is written like a Python call or an assignment of one, not like a shell line."""
    return _EXPRESSION.match(text) is not None


def read_expression(text: str, env: dict[str, str] | None = None) -> Launch:
    """The launch that the Python source ``text`` is: one call of an engine's class, assigned or not, imports before it.

    Arguments must be literals (or simple arithmetic on them); any other is left out and named in ``unread`` and
    ``notes``. Raises UsageProblem where ``text`` is not Python, builds no engine, or builds more than one.
    """
    source = textwrap.dedent(text).strip()
    if "\0" in source:
        raise UsageProblem("the Python expression has a NUL byte in it: take it out")
    try:
        tree = ast.parse(source)
        calls = [found for node in ast.walk(tree) if isinstance(node, ast.Call) and (found := _engine_call(node))]
    except SyntaxError as error:
        place = f" at line {error.lineno}, column {error.offset}" if error.lineno else ""
        raise UsageProblem(f"cannot read the Python expression{place}: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError):
        raise UsageProblem("cannot read the Python expression: it is nested too deeply") from None
    if not calls:
        raise UsageProblem(f"cannot tell which engine `{_cut(source)}` starts: expected {expected()}")
    if len(calls) > 1:
        names = ", ".join(name for _, _, name in calls)
        raise UsageProblem(f"the Python expression builds more than one engine ({names}): give one at a time")
    node, engine, name = calls[0]
    arguments = _Arguments(source)
    arguments.read(node)
    return Launch(
        engine=engine,
        argv=(text,),
        entry="call",
        target=name,
        arguments=arguments.named,
        positional=tuple(arguments.positional),
        unread=tuple(arguments.unread),
        notes=tuple(arguments.notes),
        env=dict(env or {}),
    )


def _engine_call(node: ast.Call) -> tuple[ast.Call, str, str] | None:
    found = engine_of_call(_dotted(node.func))
    return (node, found[0].name, found[1]) if found else None


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` as text; empty for anything but names and attributes."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _cut(text: str) -> str:
    one_line = " ".join(text[: 4 * _LONGEST_SHOWN].split())
    return one_line if len(one_line) <= _LONGEST_SHOWN else one_line[:_LONGEST_SHOWN] + " ..."


class _Arguments:
    """The arguments of one call, as far as they can be read without running anything."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.named: dict[str, Any] = {}
        self.positional: list[Any] = []
        self.unread: list[str] = []
        self.notes: list[str] = []

    def read(self, call: ast.Call) -> None:
        for position, node in enumerate(call.args, 1):
            self.positional.append(self._value(f"argument {position}", node))
        seen: set[str] = set()
        for keyword in call.keywords:
            if keyword.arg is None:
                self._read_double_star(keyword.value, seen)
                continue
            self._once(keyword.arg, seen)
            value = self._value(keyword.arg, keyword.value)
            if keyword.arg not in self.unread:
                self.named[keyword.arg] = value

    def _read_double_star(self, node: ast.expr, seen: set[str]) -> None:
        value = self._value(f"**{_cut(self._text(node))}", node)
        if isinstance(value, dict):
            for name in value:
                self._once(name, seen)
            self.named.update(value)

    @staticmethod
    def _once(name: str, seen: set[str]) -> None:
        if name in seen:
            raise UsageProblem(f"the Python expression gives {name} twice, which Python refuses: drop one")
        seen.add(name)

    def _text(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.source, node) or type(node).__name__

    def _value(self, name: str, node: ast.expr) -> Any:
        try:
            return _literal(node)
        except (_NotLiteralError, RecursionError, ArithmeticError, TypeError, ValueError):
            self.unread.append(name)
            self.notes.append(f"{name} is not a literal, so its value is not known: {_cut(self._text(node))}")
            return None


def _literal(node: ast.expr) -> Any:
    """The value of ``node`` as plain JSON. Raises _NotLiteralError, or what the arithmetic raises."""
    match node:
        case ast.Constant(value=bool() | str() | None as value):
            return value
        case ast.Constant(value=int() | float() as value):
            return _number(value)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict():
            return _mapping(node)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _number(-_number(_literal(operand)))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(_literal(operand))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _literal(operand)
        case ast.BinOp():
            return _calculation(node)
        case ast.JoinedStr(values=parts) if all(isinstance(part, ast.Constant) for part in parts):
            return "".join(_literal(part) for part in parts)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(word.arg for word in keywords):
            return {word.arg: _literal(word.value) for word in keywords}
    raise _NotLiteralError


def _mapping(node: ast.Dict) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = _literal(value)
            if not isinstance(inner, dict):
                raise _NotLiteralError
            out.update(inner)
            continue
        name = _literal(key)
        if not isinstance(name, str):  # JSON has no other keys, and 1 is not "1" to the engine
            raise _NotLiteralError
        out[name] = _literal(value)
    return out


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _NotLiteralError
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise _NotLiteralError
    return value


def _calculation(node: ast.BinOp) -> Any:
    left, right = _literal(node.left), _literal(node.right)
    if isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add):
        return left + right
    left, right = _number(left), _number(right)
    if isinstance(node.op, (ast.Pow, ast.LShift)) and not 0 <= right <= 64:
        raise _NotLiteralError
    calculate = _ARITHMETIC.get(type(node.op))
    if calculate is None:
        raise _NotLiteralError
    return _number(calculate(left, right))
