"""``pytest.raises`` blocks of a release's tests, read: which configuration is made, and how it must be refused."""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from upstream.names import Function, Reader

#: What a readable expression may be made of besides literals, calls and attributes.
_PARTS = (
    *(
        ast.Constant,
        ast.List,
        ast.Tuple,
        ast.Set,
        ast.Dict,
        ast.Starred,
        ast.keyword,
        ast.Load,
        ast.Subscript,
        ast.Slice,
    ),
    *(
        ast.Call,
        ast.Attribute,
        ast.Name,
        ast.UnaryOp,
        ast.BinOp,
        ast.unaryop,
        ast.operator,
        ast.JoinedStr,
        ast.FormattedValue,
    ),
    *(ast.IfExp, ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop),
)
_PLAIN = frozenset(
    {"bool", "bytes", "dict", "float", "frozenset", "int", "len", "list", "max", "min", "range", "set", "str", "tuple"}
)
_LIBRARIES = frozenset({"argparse", "json", "math", "pydantic", "re", "torch", "transformers"})
_MAKES = frozenset({"LLM", "EngineArgs", "AsyncEngineArgs", "create_engine_config", "parse_args", "from_cli_args"})
_PATCHES = frozenset({"patch", "mocker", "Mock", "MagicMock", "SimpleNamespace", "chdir", "syspath_prepend"})
_CONFIGURING = ("config", "engine", "entrypoints", "transformers_utils", "utils", "platforms")
_MOST_CASES = 80


@dataclass(frozen=True)
class Case:
    """One block with one set of parameters.

    ``steps`` are the expressions evaluated in it, in order, with names filled in; ``expected`` and ``match`` expressions
    too. ``imports`` says of each free name where it comes from: (module, attribute or None). ``env`` is what the test
    sets. ``argv`` is the command line where a parser of the engine's own console script is given one. ``unread`` says
    why the block cannot be read off; then the rest may be empty.
    """

    path: str
    line: int
    parameters: str = ""
    steps: tuple[str, ...] = ()
    expected: str = ""
    match: str | None = None
    argv: tuple[str, ...] = ()
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    text: str = ""
    unread: str | None = None


class _CannotReadError(Exception):
    """Why a block cannot be read off."""


def cases(package: str, path: str, source: str) -> Iterator[Case]:
    """The cases of every ``with pytest.raises(...)`` in a test file; those that make no configuration are left out.

    A configuration is made by an engine class, a parser, or a class ``...Config`` that the test imports from ``package``.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    file = _File(package, path, tree)
    for node, around in _withs(tree, ()):
        yield from file.cases(node, around)


def count(source: str) -> int:
    """How many ``pytest.raises`` blocks a test file has."""
    try:
        return sum(_raises(node) is not None for node in ast.walk(ast.parse(source)) if isinstance(node, ast.With))
    except (SyntaxError, ValueError):
        return 0


def _withs(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[ast.With, tuple[ast.AST, ...]]]:
    """The blocks below ``node``, each with what it stands in, from the outside in."""
    if isinstance(node, ast.With) and _raises(node) is not None:
        yield node, around
    for child in ast.iter_child_nodes(node):
        yield from _withs(child, (*around, node))


def _raises(node: ast.With) -> ast.Call | None:
    """The call of ``pytest.raises`` in a with statement."""
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("pytest.raises", "raises"):
            return call
    return None


class _File:
    def __init__(self, package: str, path: str, tree: ast.Module) -> None:
        self.package, self.path, self.tree = package, path, tree
        self.reader = Reader(tree)
        self.imports: dict[str, tuple[str, str | None]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    if one.asname or "." not in one.name:
                        self.imports[one.asname or one.name] = (one.name, None)
                    else:
                        self.imports[one.name.partition(".")[0]] = (one.name.partition(".")[0], None)
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for one in node.names:
                    self.imports[one.asname or one.name] = (node.module, one.name)

    def cases(self, node: ast.With, around: tuple[ast.AST, ...]) -> Iterator[Case]:
        call = _raises(node)
        assert call is not None
        function = next((one for one in reversed(around) if isinstance(one, Function)), None)
        try:
            sets = list(self._parameter_sets(function, around))[:_MOST_CASES]
        except _CannotReadError:
            sets = [("", {})]
        for name, given in sets:
            try:
                found = self._case(node, call, around, function, name, given)
            except _CannotReadError as why:
                if not self._makes_configuration([ast.parse(ast.unparse(one)) for one in node.body]):
                    return
                text = "; ".join(ast.unparse(one) for one in node.body)
                found = Case(self.path, node.lineno, name, text=text, unread=str(why))
            if found is not None:
                yield found

    def _case(
        self,
        node: ast.With,
        call: ast.Call,
        around: tuple[ast.AST, ...],
        function: Function | None,
        name: str,
        given: Mapping[str, ast.expr],
    ) -> Case | None:
        given = {**self._fixtures(function), **given}
        values = {**self.reader.values_at(node, function, given), **given}
        steps: list[ast.expr] = []
        for statement in node.body:
            match statement:
                case (
                    ast.Expr(value=value)
                    | ast.Assign(targets=[_], value=value)
                    | ast.AnnAssign(value=ast.expr() as value)
                ):
                    filled = self.reader.filled_in(value, values)
                    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                    if isinstance(target, ast.Name):
                        values[target.id] = filled
                    steps.append(filled)
                case ast.Pass():
                    pass
                case _:
                    raise _CannotReadError("the block holds more than calls")
        # What an earlier step made is part of the later ones that name it.
        steps = [
            one
            for at, one in enumerate(steps)
            if not any(ast.unparse(one) in ast.unparse(later) for later in steps[at + 1 :])
        ]
        if not self._makes_configuration(steps):
            return None
        if not self._runs(node, around, values):
            return None
        if steps and not self._is_configuration(steps[-1]):
            raise _CannotReadError("what refuses is made or run after the configuration")
        if "xpu" in self.path:
            raise _CannotReadError("it is meant for hardware that gonogo does not pretend")
        if len(node.items) > 1:
            raise _CannotReadError("the engine is patched")
        env = self._environment(function, node, values)
        argv = _command_line(steps)
        expected = self.reader.filled_in(call.args[0], values) if call.args else None
        match = next((word.value for word in call.keywords if word.arg == "match"), None)
        match = self.reader.filled_in(match, values) if match is not None else None
        if expected is None:
            raise _CannotReadError("no exception is named")
        imports: dict[str, tuple[str, str | None]] = {}
        for one in (*(() if argv else steps), expected, *([match] if match is not None else [])):
            imports |= self._checked(one)
        return Case(
            self.path,
            node.lineno,
            name,
            tuple(ast.unparse(ast.fix_missing_locations(one)) for one in steps),
            ast.unparse(expected),
            ast.unparse(match) if match is not None and ast.unparse(match) != "None" else None,
            argv,
            imports,
            env,
        )

    def _makes_configuration(self, steps: list[ast.expr] | list[ast.Module]) -> bool:
        for step in steps:
            for node in ast.walk(step):
                if isinstance(node, ast.Call):
                    last = ast.unparse(node.func).rpartition(".")[2]
                    if last in _MAKES:
                        return True
                    module = self.imports.get(last, ("", None))[0]
                    if last.endswith("Config") and module.split(".")[:2] in ([self.package, "config"], [self.package]):
                        return True
        return False

    def _is_configuration(self, step: ast.expr) -> bool:
        """Whether it is a configuration, an engine's arguments or a parser itself that is called last."""
        made = step
        while isinstance(made, (ast.Call, ast.Attribute, ast.Subscript)):
            if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
                module = self.imports.get(made.func.id, ("", None))[0].split(".")
                if made.func.id == "LLM":
                    return made is step
                return (
                    made.func.id in _MAKES
                    or module[:2] in ([self.package, one] for one in _CONFIGURING)
                    or len(module) == 1
                )
            made = made.func if isinstance(made, ast.Call) else made.value
        return True

    def _runs(self, node: ast.With, around: tuple[ast.AST, ...], values: Mapping[str, ast.expr]) -> bool:
        """Whether the block is come to, as far as branches around it ask for what is known."""
        for outer, inner in itertools.pairwise((*around, node)):
            if not isinstance(outer, ast.If) or inner is outer.test:
                continue
            test = self.reader.filled_in(outer.test, values)
            if self._checked(test):
                raise _CannotReadError("it stands in a branch")
            plain = ast.Expression(ast.fix_missing_locations(test))
            if bool(eval(compile(plain, self.path, "eval"), {"__builtins__": {}}, dict(_BUILT_IN))) != (
                inner in outer.body
            ):
                return False
        return True

    def _checked(self, node: ast.expr) -> dict[str, tuple[str, str | None]]:
        """The free names of an expression and where they come from; raises where it is more than can be read."""
        found: dict[str, tuple[str, str | None]] = {}
        for part in ast.walk(node):
            if not isinstance(part, _PARTS):
                raise _CannotReadError(f"more than calls of what is imported: {type(part).__name__}")
            if isinstance(part, ast.Name) and part.id not in _PLAIN:
                where = self.imports.get(part.id)
                if where is None:
                    if part.id in _EXCEPTIONS:
                        continue
                    raise _CannotReadError(f"{part.id} is not known")
                root = where[0].partition(".")[0]
                if root != self.package and root not in _LIBRARIES:
                    raise _CannotReadError(f"{part.id} comes from {root}")
                found[part.id] = where
        return found

    def _environment(self, function: Function | None, node: ast.With, values: Mapping[str, ast.expr]) -> dict[str, str]:
        """What the test sets with monkeypatch before the block; raises where it patches more than that."""
        env: dict[str, str] = {}
        if function is None:
            return env
        if any("patch" in ast.unparse(one) for one in function.decorator_list):
            raise _CannotReadError("the engine is patched")
        for part in ast.walk(function):
            if isinstance(part, ast.Name) and part.id in _PATCHES:
                raise _CannotReadError("the engine is patched")
            match part:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="monkeypatch" | "m"), attr=attr), args=args):
                    if attr == "setenv" and len(args) >= 2:
                        name, value = (self.reader.filled_in(one, values) for one in args[:2])
                        if not (isinstance(name, ast.Constant) and isinstance(value, ast.Constant)):
                            raise _CannotReadError("the environment is not known")
                        if part.lineno < node.lineno:
                            env[str(name.value)] = str(value.value)
                    elif attr not in ("delenv", "context", "undo"):
                        raise _CannotReadError("the engine is patched")
        return env

    def _fixtures(self, function: Function | None) -> dict[str, ast.expr]:
        """Parameters that are fixtures of the same file which only return something."""
        if function is None:
            return {}
        names = [one.arg for one in function.args.args]
        uses = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == "tmp_path"]
        as_text = ast.unparse(function).count("str(tmp_path)")
        # A folder that nothing is put into is as good as any other.
        folder = {"tmp_path": ast.Constant("/tmp")} if uses and len(uses) == as_text else {}
        return folder | {
            name: ast.Call(ast.Name(name, ast.Load()), [], [])
            for name in names
            if name in self.reader.functions
            and any("fixture" in ast.unparse(one) for one in self.reader.functions[name].decorator_list)
        }

    def _parameter_sets(
        self, function: Function | None, around: tuple[ast.AST, ...]
    ) -> Iterator[tuple[str, dict[str, ast.expr]]]:
        """Every combination of what ``parametrize`` gives, and loops over what is written out, with a name for each."""
        choices: list[list[tuple[str, dict[str, ast.expr]]]] = []
        for one in around:
            for decorator in getattr(one, "decorator_list", ()):
                match decorator:
                    case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, rows, *_]):
                        choices.append(list(self._rows(names, rows, function)))
            match one:
                case ast.For(target=ast.Name(id=name), iter=rows):
                    choices.append(list(self._rows(ast.Constant(name), rows, function)))
        for chosen in itertools.product(*choices):
            merged: dict[str, ast.expr] = {}
            for _, given in chosen:
                merged |= given
            yield "-".join(name for name, _ in chosen), merged

    def _rows(
        self, names: ast.expr, rows: ast.expr, function: Function | None
    ) -> Iterator[tuple[str, dict[str, ast.expr]]]:
        values = self.reader.values_at(function, None, {}) if function is not None else {}
        rows = self.reader.filled_in(rows, values)
        named = self.reader.filled_in(names, values)
        if isinstance(named, (ast.List, ast.Tuple)):
            wanted = [str(one.value) for one in named.elts if isinstance(one, ast.Constant)]
        elif isinstance(named, ast.Constant):
            wanted = [one.strip() for one in str(named.value).split(",") if one.strip()]
        else:
            raise _CannotReadError("the parameters are not written out")
        if not isinstance(rows, (ast.List, ast.Tuple)):
            raise _CannotReadError("the parameters are not written out")
        for number, row in enumerate(rows.elts):
            if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
                if any(word.arg == "marks" and "skip" in ast.unparse(word.value) for word in row.keywords):
                    continue
                parts: list[ast.expr] = list(row.args)
            elif len(wanted) == 1:
                parts = [row]
            elif isinstance(row, (ast.Tuple, ast.List)):
                parts = list(row.elts)
            else:
                raise _CannotReadError("the parameters are not written out")
            if len(parts) == len(wanted):
                yield str(number), dict(zip(wanted, parts, strict=True))


def _command_line(steps: list[ast.expr]) -> tuple[str, ...]:
    """``parsers["vllm serve"].parse_args([...])`` as the words of a command; empty for anything else."""
    if len(steps) != 1:
        return ()
    match steps[0]:
        case ast.Call(
            func=ast.Attribute(value=ast.Subscript(slice=ast.Constant(value=str() as name)), attr="parse_args"),
            args=positional,
            keywords=named,
        ):
            given = positional[0] if positional else next((word.value for word in named if word.arg == "args"), None)
            if isinstance(given, ast.List) and all(isinstance(one, ast.Constant) for one in given.elts):
                return (*name.split(), *(str(one.value) for one in given.elts if isinstance(one, ast.Constant)))
    return ()


_EXCEPTIONS = frozenset(
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
)
_BUILT_IN = {name: getattr(builtins, name) for name in (*_PLAIN, *_EXCEPTIONS)}
