"""Modules of packages that a world pretends to have whose text can be run as it is: it needs nothing but the standard library.

What such a module binds is no unknown value: a package that is left out for its weight (kernels, compiled for one GPU) may
bring tables in plain Python that an engine compares with.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gonogo.dryrun.known_names import KINDS, distribution_of
from gonogo.dryrun.memory import loading_key
from gonogo.dryrun.store import read_json, write_json
from gonogo.dryrun.world import World
from gonogo.releases.surfaces import Surfaces

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_LARGEST = 1 << 18  # characters


class PlainModules:
    """Finds them by the decisions that an engine took on what they bind, and remembers them by release and vendor."""

    def __init__(self, surfaces: Surfaces | None, folder: Path | None) -> None:
        """``surfaces`` reads wheels (None: none is found); ``folder`` keeps what was found (None: nowhere)."""
        self._surfaces = surfaces
        self._folder = folder
        self._texts: dict[str, dict[str, str]] = {}

    def texts(self, world: World) -> dict[str, str]:
        """Module → text, of those that were found for this world's release and vendor."""
        return {module: text for module, text in self._of(world).items() if text}

    def learn(self, world: World, decisions: Iterable[dict[str, Any]], described: Iterable[str]) -> bool:
        """Whether the ``decisions`` are on values of modules whose text was not known before and is now.

        ``described`` are modules that gonogo has a description of its own for: they and what stands below are let alone.
        """
        if self._surfaces is None:
            return False
        known = self._of(world)
        found: dict[str, str | None] = {}
        tops = {name.partition(".")[0] for name in described}
        for row in decisions:
            if row["kind"] in KINDS:
                continue
            for name in _DOTTED.findall(row["name"]):
                if name.partition(".")[0] not in tops:
                    found |= {module: self._read(world, module) for module in _modules_in(name) if module not in known}
        fresh = {module: text for module, text in found.items() if text is not None}
        if fresh:
            self._texts[_key(world)] = {**known, **fresh}
            if self._folder is not None:
                write_json(self._folder / f"{_key(world)}.json", self._texts[_key(world)])
        return any(fresh.values())

    def _of(self, world: World) -> dict[str, str]:
        key = _key(world)
        if key not in self._texts:
            record = read_json(self._folder / f"{key}.json") if self._folder is not None else None
            self._texts[key] = record if isinstance(record, dict) else {}
        return self._texts[key]

    def _read(self, world: World, module: str) -> str | None:
        """The text; empty where there is none that can be run here, None where that cannot be told."""
        assert self._surfaces is not None
        distribution = distribution_of(world, module)
        version = world.release.versions.get(distribution) if distribution else None
        if distribution is None or version is None:
            return ""
        text = self._surfaces.text(distribution, version, module)
        return "" if text is not None and not (len(text) <= _LARGEST and _is_plain(text)) else text


def _key(world: World) -> str:
    return hashlib.sha256(json.dumps(loading_key(world)).encode()).hexdigest()


def _modules_in(name: str) -> Iterator[str]:
    """The modules that could bind a dotted name: not its first part, which stands for the whole package."""
    parts = name.split(".")
    for count in range(2, len(parts)):
        yield ".".join(parts[:count])


def _is_plain(text: str) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." if node.level else str(node.module)]
        else:
            continue
        if any(name.partition(".")[0] not in sys.stdlib_module_names for name in names):
            return False
    return True
