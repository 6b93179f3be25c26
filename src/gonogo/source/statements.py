"""A walk over a module's statements, in the order they run, that finds the raise sites and what they say.

On the way it keeps what is known of names, so that ``msg = f"..."`` three lines above ``raise ValueError(msg)`` counts.
Branches are walked apart and merged into choices; what a loop assigns is unknown after it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gonogo.source.templates import Parts, Placeholder, Template, merged
from gonogo.source.texts import (
    Known,
    Made,
    Names,
    dotted,
    either,
    known_text,
    quoted_text,
    source_of,
    text_of,
    tuple_text,
)
from gonogo.source.types import Kind, RaiseSite

_MOST_PARTS = 400
_EXITS = frozenset({"sys.exit", "_sys.exit", "exit", "quit"})
_MESSAGE_KEYWORDS = ("message", "msg", "detail", "reason", "error")
_BUILTIN_ERRORS = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def sites_of(module: ast.Module) -> tuple[RaiseSite, ...]:
    """All raise sites of a module, in the order of their lines."""
    walk = _Walk(module)
    return tuple(sorted(walk.sites, key=lambda site: (site.line_first, site.line_last)))


class _Walk:
    def __init__(self, module: ast.Module) -> None:
        self.sites: list[RaiseSite] = []
        self._path: list[str] = []
        self._parsers: list[bool] = [False]
        self._functions = {node.name for node in module.body if isinstance(node, _Function)}
        self._module_constants = _constants(module.body, {}, ("",))
        self._block(module.body, Names(self._module_constants))

    # -- blocks and branches

    def _block(self, statements: Sequence[ast.stmt], names: Names) -> Names | None:
        """Walk statements in order; the names known behind them, None where control never gets behind them."""
        ended = False
        for statement in statements:
            walk = _STATEMENTS.get(type(statement))
            behind = walk(self, statement, names) if walk else names
            if behind is None:
                ended, behind = True, Names(names.constants)
            names = behind
        return None if ended else names

    def _if(self, node: ast.If, names: Names) -> Names | None:
        ends: list[Names | None] = []
        # An elif is an if alone in the else; taken in a loop, since tables of rules have hundreds.
        while True:
            ends.append(self._block(node.body, names.copy()))
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                node = node.orelse[0]
                continue
            ends.append(self._block(node.orelse, names))
            return _merged_names(ends)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, names: Names) -> Names | None:
        if names.local:
            _widen(node.body, names)
        if not isinstance(node, ast.While):
            _forget(node.target, names)
        self._block(node.body, names.copy())
        return _merged_names([names, self._block(node.orelse, names.copy())])

    def _try(self, node: ast.Try | ast.TryStar, names: Names) -> Names | None:
        body = self._block(node.body, names.copy())
        if names.local:
            _widen(node.body, names)
        anywhere = _merged_names([names, body]) or names
        ends: list[Names | None] = []
        for handler in node.handlers:
            inside = anywhere.copy()
            if handler.name:
                inside.put(handler.name, None)
            ends.append(self._block(handler.body, inside))
        ends.append(self._block(node.orelse, body) if body is not None else None)
        behind = _merged_names(ends)
        if not node.finalbody:
            return behind
        # It runs on the way out of any of the others too, from anywhere in them.
        if names.local:
            _widen([*node.orelse, *(statement for handler in node.handlers for statement in handler.body)], names)
        last = self._block(node.finalbody, _merged_names([names, body, *ends]) or names)
        return None if behind is None else last

    def _with(self, node: ast.With | ast.AsyncWith, names: Names) -> Names | None:
        for item in node.items:
            if item.optional_vars is not None:
                _forget(item.optional_vars, names)
        return self._block(node.body, names)

    def _match(self, node: ast.Match, names: Names) -> Names | None:
        ends: list[Names | None] = [self._block(case.body, names.copy()) for case in node.cases]
        return _merged_names([*ends, names])

    # -- scopes

    def _class(self, node: ast.ClassDef, names: Names) -> Names:
        constants = _constants(node.body, names.constants, ("self.", "cls.", f"{node.name}."))
        ancestry = [node.name, *(dotted(base) or "" for base in node.bases)]
        self._parsers.append(any(name.endswith("Parser") for name in ancestry))
        self._path.append(node.name)
        self._block(node.body, Names(constants))
        self._path.pop()
        self._parsers.pop()
        return names

    def _function(self, node: _Function, names: Names) -> Names:
        # Only of a function around are the names as they are here; those of a module or class may be anything by then.
        inside = names.copy() if self._path[-1:] == ["<locals>"] else Names(names.constants)
        self._path += [node.name, "<locals>"]
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            inside.put(argument.arg, None)
        self._block(node.body, inside)
        del self._path[-2:]
        return names

    # -- names

    def _assign(self, node: ast.Assign, names: Names) -> Names:
        for target in node.targets:
            self._bind(target, node.value, names)
        return names

    def _assign_typed(self, node: ast.AnnAssign, names: Names) -> Names:
        if node.value is not None:
            self._bind(node.target, node.value, names)
        return names

    def _bind(self, target: ast.expr, value: ast.expr, names: Names) -> None:
        name = dotted(target)
        if name is None:
            _forget(target, names)
            return
        known: Known | None = known_text(value, names)
        if isinstance(value, ast.Call) and (_last_name(value.func) or "").endswith(("Error", "Exception")):
            known = Made(*self._said(value, names))
        elif isinstance(value, ast.Name):
            known = names.get(value.id)
        names.put(name, _bounded(known))

    def _add(self, node: ast.AugAssign, names: Names) -> Names:
        name = dotted(node.target)
        if name is None:
            return names
        before, added = names.get(name), known_text(node.value, names)
        if isinstance(before, Made) or not isinstance(node.op, ast.Add) or (before is None and added is None):
            names.put(name, None)
            return names
        parts = (Placeholder(name),) if before is None else before
        names.put(name, _bounded((*parts, *text_of(node.value, names))))
        return names

    def _delete(self, node: ast.Delete, names: Names) -> Names:
        for target in node.targets:
            _forget(target, names)
        return names

    # -- sites

    def _raise(self, node: ast.Raise, names: Names) -> None:
        exception, parts = self._said(node.exc, names) if node.exc is not None else (None, None)
        self._found("raise", node, exception, parts)

    def _assert(self, node: ast.Assert, names: Names) -> Names:
        parts: Parts = ()
        if isinstance(node.msg, ast.Tuple):
            parts = tuple_text(node.msg.elts, names)
        elif node.msg is not None:
            parts = text_of(node.msg, names)
        self._found("assert", node, "AssertionError", parts, ast.unparse(node.test))
        return names

    def _expression(self, node: ast.Expr | ast.Return, names: Names) -> Names | None:
        if isinstance(node.value, ast.Call) and (exception := self._ends_in(node.value)):
            self._found("call", node.value, exception, _message(exception, node.value, names))
            return None
        return None if isinstance(node, ast.Return) else names

    def _stop(self, _node: ast.stmt, _names: Names) -> None:
        return None

    def _ends_in(self, call: ast.Call) -> str | None:
        """The exception that a call which never returns ends in; None for any other call."""
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "error":
            receiver = dotted(function.value)
            of_itself = receiver == "self" if receiver else ast.unparse(function.value) == "super()"
            if (receiver or "").lower().endswith("parser") or (of_itself and self._parsers[-1]):
                return "ArgumentError"
        return "SystemExit" if dotted(function) in _EXITS else None

    def _said(self, exc: ast.expr, names: Names) -> tuple[str | None, Parts | None]:
        """Type and message of the exception that an expression gives; None for what source does not say."""
        if isinstance(exc, ast.Call):
            return self._said_by_call(exc, names)
        name = dotted(exc)
        known = names.get(name) if name else None
        if isinstance(known, Made):
            return known.exception, known.message
        last = _last_name(exc)
        return (last, ()) if last and _is_class(last) else (None, None)

    def _said_by_call(self, call: ast.Call, names: Names) -> tuple[str | None, Parts | None]:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "with_traceback":
            return self._said(function.value, names)
        name = _last_name(function)
        if name is not None and _is_class(name):
            return name, _message(name, call, names)
        # A class kept in a variable (``error_class(...)``, ``type(e)(...)``) takes the message; a function may not.
        if name is None or (isinstance(function, ast.Name) and name not in self._functions):
            return None, _message(None, call, names)
        return None, None

    def _found(
        self,
        kind: Kind,
        node: ast.stmt | ast.expr,
        exception: str | None,
        parts: Parts | None,
        condition: str | None = None,
    ) -> None:
        path = self._path[:-1] if self._path and self._path[-1] == "<locals>" else self._path
        self.sites.append(
            RaiseSite(
                kind=kind,
                exception=exception,
                message=None if parts is None else Template(merged(parts)),
                condition=condition,
                function=".".join(path) or "<module>",
                line_first=node.lineno,
                line_last=node.end_lineno or node.lineno,
            )
        )


_STATEMENTS: dict[type[ast.stmt], Callable[[_Walk, Any, Names], Names | None]] = {
    ast.If: _Walk._if,
    ast.For: _Walk._loop,
    ast.AsyncFor: _Walk._loop,
    ast.While: _Walk._loop,
    ast.Try: _Walk._try,
    ast.TryStar: _Walk._try,
    ast.With: _Walk._with,
    ast.AsyncWith: _Walk._with,
    ast.Match: _Walk._match,
    ast.ClassDef: _Walk._class,
    ast.FunctionDef: _Walk._function,
    ast.AsyncFunctionDef: _Walk._function,
    ast.Assign: _Walk._assign,
    ast.AnnAssign: _Walk._assign_typed,
    ast.AugAssign: _Walk._add,
    ast.Delete: _Walk._delete,
    ast.Raise: _Walk._raise,
    ast.Assert: _Walk._assert,
    ast.Expr: _Walk._expression,
    ast.Return: _Walk._expression,
    ast.Break: _Walk._stop,
    ast.Continue: _Walk._stop,
}


def _last_name(node: ast.expr) -> str | None:
    name = dotted(node)
    return name.rpartition(".")[2] if name else None


def _is_class(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


def _bounded(known: Known | None) -> Known | None:
    return None if isinstance(known, tuple) and len(known) > _MOST_PARTS else known


def _constants(body: Iterable[ast.stmt], outer: Mapping[str, Parts], prefixes: Sequence[str]) -> dict[str, Parts]:
    """Texts assigned to names in capitals straight in a module or a class; by Python's habit nothing changes those."""
    found = dict(outer)
    names = Names(found)
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if isinstance(target, ast.Name) and target.id.isupper():
            known = known_text(value, names)
            if known is not None:
                found.update({prefix + target.id: known for prefix in prefixes})
    return found


def _message(exception: str | None, call: ast.Call, names: Names) -> Parts | None:
    """What ``str()`` of an exception with these arguments says, as far as its class is known; parts unmerged."""
    arguments = call.args
    if any(isinstance(argument, ast.Starred) for argument in arguments):
        return None
    builtin = _BUILTIN_ERRORS.get(exception or "")
    if builtin is not None and arguments:
        if issubclass(builtin, OSError) and len(arguments) > 1:
            return ("[Errno ", Placeholder(source_of(arguments[0])), "] ", *text_of(arguments[1], names))
        if len(arguments) > 1:
            return tuple_text(arguments, names)
        if issubclass(builtin, KeyError):
            return quoted_text(arguments[0], names)
        return text_of(arguments[0], names)
    if not arguments and not call.keywords:
        return ()
    # Of a class of the engine's own: the first argument that is a text, since a code or a name may stand before it.
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    candidates = [*arguments, *(keywords[name] for name in _MESSAGE_KEYWORDS if name in keywords)]
    for candidate in candidates:
        known = known_text(candidate, names)
        if known is not None:
            return known
    return text_of(candidates[0], names) if candidates else None


def _forget(target: ast.expr, names: Names) -> None:
    for node in ast.walk(target):
        if isinstance(node, ast.Name | ast.Attribute) and (name := dotted(node)):
            names.put(name, None)


def _widen(code: Sequence[ast.stmt], names: Names) -> None:
    """Make ``names`` true anywhere in ``code``: what it assigns is unknown, what it only adds to has an open end."""
    added: set[str] = set()
    for node in (node for statement in code for node in ast.walk(statement)):
        if isinstance(node, ast.AugAssign) and (name := dotted(node.target)):
            added.add(name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.For | ast.AsyncFor | ast.NamedExpr | ast.withitem):
            targets = node.targets if isinstance(node, ast.Assign) else [_target(node)]
            for target in targets:
                if target is not None:
                    _forget(target, names)
    for name in added:
        known = names.get(name)
        if isinstance(known, tuple):
            names.put(name, (*known, Placeholder(name)))


def _target(node: ast.AnnAssign | ast.For | ast.AsyncFor | ast.NamedExpr | ast.withitem) -> ast.expr | None:
    return node.optional_vars if isinstance(node, ast.withitem) else node.target


def _merged_names(ends: Sequence[Names | None]) -> Names | None:
    alive = [names for names in ends if names is not None]
    if len(alive) < 2:
        return alive[0] if alive else None
    behind = Names(alive[0].constants)
    for name in sorted(set().union(*(names.local for names in alive))):
        behind.put(name, _bounded(_one_of([names.get(name) for names in alive], name)))
    return behind


def _one_of(known: Sequence[Known | None], name: str) -> Known | None:
    if all(each == known[0] for each in known):
        return known[0]
    if any(isinstance(each, Made) for each in known):
        return None
    return either([each if isinstance(each, tuple) else (Placeholder(name),) for each in known], name)
