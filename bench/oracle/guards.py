"""Read, without running it, where an engine's start-up code can say no, and what stands in the condition there."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

_START_UP = {
    "vllm": (
        "vllm/config",
        "vllm/engine",
        "vllm/entrypoints/cli",
        "vllm/entrypoints/common/cli_args.py",
        "vllm/entrypoints/launchers/cli_args.py",
        "vllm/entrypoints/openai/parser",
        "vllm/platforms/cpu.py",
        "vllm/platforms/cuda.py",
        "vllm/platforms/rocm.py",
        "vllm/platforms/interface.py",
        "vllm/transformers_utils/config.py",
        "vllm/transformers_utils/configs/speculators",
        "vllm/transformers_utils/model_arch_config_convertor.py",
        "vllm/model_executor/models/config.py",
        "vllm/model_executor/models/registry.py",
        "vllm/reasoning/abs_reasoning_parsers.py",
        "vllm/tool_parsers/abstract_tool_parser.py",
        "vllm/utils/argparse_utils.py",
        "vllm/utils/network_utils.py",
        "vllm/v1/attention/backends/registry.py",
        "vllm/v1/attention/selector.py",
        "vllm/v1/executor/abstract.py",
        "vllm/distributed/kv_transfer/kv_connector/factory.py",
        "vllm/distributed/kv_transfer/kv_connector/utils.py",
        "vllm/distributed/ec_transfer/ec_connector/factory.py",
    ),
    "sglang": (
        "sglang/srt/arg_groups",
        "sglang/srt/server_args.py",
        "sglang/srt/configs",
        "sglang/srt/environ.py",
        "sglang/srt/utils/hf_transformers",
        "sglang/srt/speculative/spec_info.py",
    ),
}
_FLAG = re.compile(r"--([a-z][a-z0-9-]+)")


@dataclass
class Hints:
    """Names that a condition asks about, each with the constants it is compared with, and flags named in texts."""

    names: dict[str, set[str | int | float | bool]] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)

    def add(self, other: Hints) -> None:
        """Take in what ``other`` has."""
        for name, values in other.names.items():
            self.names.setdefault(name, set()).update(values)
        self.flags |= other.flags


@dataclass(frozen=True)
class Guard:
    """A raise or assert statement: path from the package's parent folder, first and last line, function, hints.

    ``near`` is what its own condition, its message and the conditions around it ask about; ``far`` is all that the
    function asks about. ``truth`` says which names must be true or false for the condition to hold and for the ones
    before it in the same block, that also raise, to be passed; ``before`` is what those ask about.
    """

    path: str
    first: int
    last: int
    function: str
    near: Hints
    far: Hints
    before: Hints
    truth: dict[str, bool]


def guards(engine: str, site_packages: Path) -> list[Guard]:
    """All raise and assert statements of the parts of ``engine`` that start-up runs."""
    found: list[Guard] = []
    for part in _START_UP[engine]:
        place = site_packages / part
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            if file.exists():
                path = file.relative_to(site_packages).as_posix()
                found += _Reader(path).read(ast.parse(file.read_text(encoding="utf-8")))
    return found


def hints_of(node: ast.AST) -> Hints:
    """Names and constants in an expression."""
    hints = Hints()
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            hints.names.setdefault(part.attr, set())
        elif isinstance(part, ast.Name):
            hints.names.setdefault(part.id, set())
        elif isinstance(part, ast.Compare):
            _add_compared(hints, part)
        elif isinstance(part, ast.Call):
            _add_looked_up(hints, part)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            hints.flags |= {flag.rstrip("-") for flag in _FLAG.findall(part.value)}
    return hints


def _add_compared(hints: Hints, compared: ast.Compare) -> None:
    parts = [compared.left, *compared.comparators]
    values = {
        part.value
        for side in parts
        for part in ast.walk(side)
        if isinstance(part, ast.Constant) and isinstance(part.value, str | int | float)
    }
    for side in parts:
        name = side.attr if isinstance(side, ast.Attribute) else side.id if isinstance(side, ast.Name) else None
        if name is not None:
            hints.names.setdefault(name, set()).update(values)


def _add_looked_up(hints: Hints, call: ast.Call) -> None:
    """``getattr(config, "name")`` and ``config.get("name")`` ask about ``name``; so does ``envs.NAME.get()``."""
    function = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if function in ("getattr", "hasattr", "get"):
        for word in call.args:
            if isinstance(word, ast.Constant) and isinstance(word.value, str):
                hints.names.setdefault(word.value, set())


def truth_of(test: ast.expr, holds: bool) -> dict[str, bool]:
    """What bare names must be for ``test`` to come out as ``holds``, as far as that is plain to see."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return truth_of(test.operand, not holds)
    if isinstance(test, ast.BoolOp) and (isinstance(test.op, ast.And) == holds or len(test.values) == 1):
        return {name: value for part in test.values for name, value in truth_of(part, holds).items()}
    if isinstance(test, ast.BoolOp):  # one is enough: the last, since the others tend to lead up to it
        return truth_of(test.values[-1], holds)
    if isinstance(test, ast.Attribute):
        return {test.attr: holds}
    return {test.id: holds} if isinstance(test, ast.Name) else {}


@dataclass(frozen=True)
class _Above:
    """What must be so for a statement to be come to: tests with how they must end; those passed before; locals."""

    tests: tuple[tuple[ast.expr, bool], ...] = ()
    passed: tuple[ast.expr, ...] = ()

    def inside(self, test: ast.expr, holds: bool) -> _Above:
        return _Above((*self.tests, (test, holds)), self.passed)

    def after(self, test: ast.expr) -> _Above:
        return _Above(self.tests, (*self.passed[-3:], test))


@dataclass(frozen=True)
class _Function:
    """The function around: its name, all that it asks about, what its local names were set to."""

    name: str = ""
    far: Hints = field(default_factory=Hints)
    assigned: dict[str, ast.expr] = field(default_factory=dict)


class _Reader:
    """One file: conditions are collected on the way down."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: list[Guard] = []

    def read(self, tree: ast.Module) -> list[Guard]:
        self._block(tree.body, _Above(), _Function())
        return self._found

    def _block(self, body: list[ast.stmt], above: _Above, function: _Function) -> None:
        for statement in body:
            self._statement(statement, above, function)
            if isinstance(statement, ast.If) and _leaves(statement.body):
                above = above.after(statement.test)

    def _statement(self, node: ast.stmt, above: _Above, function: _Function) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._block(node.body, _Above(), _function(node))
        elif isinstance(node, ast.Raise | ast.Assert):
            self._add(node, above, function)
        elif isinstance(node, ast.If):
            self._block(node.body, above.inside(node.test, True), function)
            self._block(node.orelse, above.inside(node.test, False), function)
        else:
            if isinstance(node, ast.For):
                above = above.inside(node.iter, True)
            for name in ("body", "orelse", "finalbody"):
                self._block(getattr(node, name, []), above, function)
            for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
                self._block(part.body, above, function)

    def _add(self, node: ast.Raise | ast.Assert, above: _Above, function: _Function) -> None:
        near, before, truth = hints_of(node), Hints(), {}
        for test in above.passed:
            before.add(hints_of(test))
            truth.update(truth_of(test, False))
        for test, holds in above.tests:
            near.add(hints_of(test))
            truth.update(truth_of(test, holds))
        if isinstance(node, ast.Assert):
            truth.update(truth_of(node.test, False))
        for name in list(near.names):
            if name in function.assigned:
                near.add(hints_of(function.assigned[name]))
        last = node.end_lineno or node.lineno
        self._found.append(Guard(self._path, node.lineno, last, function.name, near, function.far, before, truth))


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends the function."""
    return isinstance(body[-1], ast.Raise | ast.Return)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> _Function:
    far = Hints()
    assigned: dict[str, ast.expr] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.If | ast.Assert | ast.IfExp):
            far.add(hints_of(part.test))
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            assigned[part.targets[0].id] = part.value
    return _Function(node.name, far, assigned)
