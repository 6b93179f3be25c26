"""What names stand for at a place in Python source, as far as that can be read without running it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef
Values = MutableMapping[str, ast.expr]
_MOST_ROUNDS = 6
_CHANGE_IN_PLACE = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault"}
    | {"sort", "update"}
)


@dataclass
class Reader:
    """Fills in names of one module: ``functions`` that only compute and return something are written out too."""

    tree: ast.Module
    functions: dict[str, Function] = field(init=False)

    def __post_init__(self) -> None:
        self.functions = {
            node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef) and _only_returns(node)
        }

    def values_at(self, target: ast.AST, function: Function | None, given: Mapping[str, ast.expr]) -> Values:
        """Name → expression right before ``target``, which stands in ``function`` (None: in the module).

        ``given`` are values of the function's parameters. What a branch or a loop assigns, and what is changed in
        place, is not known.
        """
        values: dict[str, ast.expr] = {}
        self._flow(self.tree.body, target, values)
        if function is not None:
            for name in _parameters(function):
                values.pop(name, None)
            for name in {name for node in ast.walk(function) for name in _binds(node)}:
                values.pop(name, None)
            values |= given
            self._flow(function.body, target, values)
        return values

    def filled_in(self, node: ast.expr, values: Mapping[str, ast.expr], depth: int = 0) -> ast.expr:
        """``node`` with the names in it replaced by what they stand for, where that is known."""
        for _ in range(_MOST_ROUNDS):
            filled = _Filling(self, values, depth).visit(copy.deepcopy(node))
            if ast.dump(filled) == ast.dump(node):
                break
            node = filled
        return node

    def returned(self, call: ast.Call, depth: int) -> ast.expr | None:
        """What a call of one of the module's simple functions returns; None where that cannot be read."""
        function = self.functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        given = _bound(function, call) if function is not None and depth < _MOST_ROUNDS else None
        if function is None or given is None:
            return None
        values: dict[str, ast.expr] = {}
        self._flow(self.tree.body, function, values)
        values |= given
        last = function.body[-1]
        self._flow(function.body[:-1], None, values)
        assert isinstance(last, ast.Return)
        return None if last.value is None else self.filled_in(last.value, values, depth + 1)

    def _flow(self, body: list[ast.stmt], target: ast.AST | None, values: Values) -> bool:
        """Take over what the statements up to ``target`` assign; True if it was found."""
        for statement in body:
            if target is not None and any(node is target for node in ast.walk(statement)):
                if statement is target or isinstance(statement, Function):
                    return True
                if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
                    _forget(statement, values)
                for inner in _blocks(statement):
                    if self._flow(inner, target, values):
                        return True
                return True
            self._take(statement, values)
        return False

    def _take(self, statement: ast.stmt, values: Values) -> None:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                filled = self.filled_in(value, values)
                values[name] = filled
            case ast.With(body=body) | ast.AsyncWith(body=body):
                for inner in body:
                    self._take(inner, values)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                values.pop(name, None)
            case _:
                _forget(statement, values)


def _only_returns(function: Function) -> bool:
    """Whether the function is assignments and a return at its end."""
    *before, last = function.body
    return (
        isinstance(last, ast.Return)
        and all(
            isinstance(one, (ast.Assign, ast.AnnAssign, ast.ImportFrom, ast.Import)) or _is_docstring(one)
            for one in before
        )
        and not any(isinstance(node, (ast.Yield, ast.Await)) for node in ast.walk(function))
    )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _bound(function: Function, call: ast.Call) -> dict[str, ast.expr] | None:
    """Parameter → argument of a call; None where the two do not fit or cannot be read."""
    every = function.args
    names = [one.arg for one in (*every.posonlyargs, *every.args)]
    if any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords):
        return None
    if len(call.args) > len(names) or every.vararg is not None:
        return None
    bound = dict(zip(names, call.args, strict=False))
    others: dict[str, ast.expr] = {}
    known = {*names, *(one.arg for one in every.kwonlyargs)}
    for word in call.keywords:
        assert word.arg is not None
        (bound if word.arg in known else others)[word.arg] = word.value
    if every.kwarg is not None:
        bound[every.kwarg.arg] = ast.Dict([ast.Constant(name) for name in others], list(others.values()))
    elif others:
        return None
    defaults = dict(zip(reversed(names), reversed(every.defaults), strict=False))
    defaults |= {
        one.arg: value for one, value in zip(every.kwonlyargs, every.kw_defaults, strict=True) if value is not None
    }
    bound = {**defaults, **bound}
    return bound if known <= set(bound) else None


def _parameters(function: Function) -> Iterator[str]:
    every = function.args
    for one in (*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg):
        if one is not None:
            yield one.arg


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
    for case in getattr(statement, "cases", ()):
        yield case.body


def _forget(statement: ast.AST, values: Values) -> None:
    for node in ast.walk(statement):
        for name in _binds(node):
            values.pop(name, None)


def _binds(node: ast.AST) -> Iterator[str]:
    """Names that ``node`` binds, or whose value it changes in place."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str() as name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _CHANGE_IN_PLACE:
            yield name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store() | ast.Del()) if attr != "exit_on_error":
            yield name  # (whether a parser ends the program or raises, it refuses the same)


class _Filling(ast.NodeTransformer):
    def __init__(self, reader: Reader, values: Mapping[str, ast.expr], depth: int) -> None:
        self.reader, self.values, self.depth = reader, values, depth

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else copy.deepcopy(value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        node = ast.Call(
            node.func if called in self.reader.functions else self.visit(node.func),
            [self.visit(one) for one in node.args],
            [ast.keyword(word.arg, self.visit(word.value)) for word in node.keywords],
        )
        return self.reader.returned(node, self.depth) or node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """An f-string whose parts are all known is a plain string."""
        parts: list[str] = []
        for part in node.values:
            match part:
                case ast.Constant(value=str() as text):
                    parts.append(text)
                case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                    filled = self.visit(value)
                    if not isinstance(filled, ast.Constant):
                        return node
                    parts.append(str(filled.value))
                case _:
                    return node
        return ast.Constant("".join(parts))

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node
