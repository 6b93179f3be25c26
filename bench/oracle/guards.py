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
        "vllm/entrypoints/launchers",
        "vllm/platforms/cpu.py",
        "vllm/platforms/interface.py",
        "vllm/transformers_utils/config.py",
        "vllm/transformers_utils/configs/speculators",
        "vllm/transformers_utils/model_arch_config_convertor.py",
        "vllm/model_executor/models/config.py",
        "vllm/model_executor/models/registry.py",
        "vllm/reasoning",
        "vllm/tool_parsers",
        "vllm/utils/argparse_utils.py",
        "vllm/v1/attention/backends/registry.py",
        "vllm/v1/attention/selector.py",
        "vllm/v1/executor/abstract.py",
        "vllm/distributed/kv_transfer/kv_connector/factory.py",
        "vllm/distributed/kv_transfer/kv_connector/utils.py",
        "vllm/distributed/ec_transfer",
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
        for name, values in other.names.items():
            self.names.setdefault(name, set()).update(values)
        self.flags |= other.flags


@dataclass(frozen=True)
class Guard:
    """A raise or assert statement: path from the package's parent folder, first and last line, function, hints.

    ``near`` is what its own condition, its message and the conditions around it ask about; ``far`` is all that the
    function asks about, whose other conditions may have to be passed first.
    """

    path: str
    first: int
    last: int
    function: str
    near: Hints
    far: Hints


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


class _Reader:
    """One file: conditions are collected on the way down."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: list[Guard] = []

    def read(self, tree: ast.Module) -> list[Guard]:
        self._block(tree.body, [], "", Hints(), {})
        return self._found

    def _block(
        self, body: list[ast.stmt], above: list[ast.expr], function: str, far: Hints, locals_: dict[str, ast.expr]
    ) -> None:
        for statement in body:
            self._statement(statement, above, function, far, locals_)

    def _statement(
        self, node: ast.stmt, above: list[ast.expr], function: str, far: Hints, locals_: dict[str, ast.expr]
    ) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            everything = Hints()
            assigned: dict[str, ast.expr] = {}
            for part in ast.walk(node):
                if isinstance(part, ast.If | ast.Assert | ast.IfExp):
                    everything.add(hints_of(part.test))
                if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                    assigned[part.targets[0].id] = part.value
            self._block(node.body, [], node.name, everything, assigned)
        elif isinstance(node, ast.ClassDef):
            self._block(node.body, above, function, far, locals_)
        elif isinstance(node, ast.Raise | ast.Assert):
            self._add(node, above, function, far, locals_)
        else:
            test = [node.test] if isinstance(node, ast.If | ast.While) else []
            if isinstance(node, ast.For):
                test = [node.iter]
            for name in ("body", "orelse", "finalbody"):
                self._block(getattr(node, name, []), above + test, function, far, locals_)
            for handler in getattr(node, "handlers", []):
                self._block(handler.body, above, function, far, locals_)
            for case in getattr(node, "cases", []):
                self._block(case.body, [*above, node.subject], function, far, locals_)  # type: ignore[attr-defined]

    def _add(
        self,
        node: ast.Raise | ast.Assert,
        above: list[ast.expr],
        function: str,
        far: Hints,
        locals_: dict[str, ast.expr],
    ) -> None:
        near = hints_of(node)
        for test in above:
            near.add(hints_of(test))
        for name in list(near.names):
            if name in locals_:
                near.add(hints_of(locals_[name]))
        last = node.end_lineno or node.lineno
        self._found.append(Guard(self._path, node.lineno, last, function, near, far))
