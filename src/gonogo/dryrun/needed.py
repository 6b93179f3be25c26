"""Modules that an engine cannot be loaded without, so that its official image must have them.

The light environment lacks some of what a release needs: packages left out for their weight, extras. Where the load
ends because a module is missing, the image, in which the engine does load, has it; so the world has it too, as a
stand-in like every other package that a dry run leaves out. Never a module of the engine's own: without it the
release is not whole, and what it would have said is not known.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gonogo.dryrun.memory import loading_key
from gonogo.dryrun.process import ChildProcess
from gonogo.dryrun.store import read_json, write_json
from gonogo.dryrun.world import World

_MOST = 40
_MISSING = re.compile(r"No module named '([\w.]+)'")


class NeededModules:
    """Finds and remembers them, by release and vendor."""

    def __init__(self, folder: Path | None) -> None:
        """``folder`` keeps what was found (None: nowhere)."""
        self._folder = folder
        self._known: dict[str, list[str]] = {}

    def world(self, world: World) -> World:
        """The world with the modules that are known to be needed."""
        return replace(world, packages={**dict.fromkeys(self._of(world), True), **world.packages})

    def load(self, world: World, start: Callable[[World], ChildProcess]) -> ChildProcess:
        """A child of this world, started with ever more of what it needs until it loads or fails for another reason."""
        names = list(self._of(world))
        while True:
            child = start(replace(world, packages={**dict.fromkeys(names, True), **world.packages}))
            name = _missing(child.error, world.engine.package)
            if name is None or name in names or name in world.packages or len(names) >= _MOST:
                break
            child.close()
            names.append(name)
        if child.error is None and names != self._of(world):
            self._keep(world, names)
        return child

    def _of(self, world: World) -> list[str]:
        key = _key(world)
        if key not in self._known:
            record = read_json(self._folder / f"{key}.json") if self._folder is not None else None
            self._known[key] = [name for name in record if isinstance(name, str)] if isinstance(record, list) else []
        return self._known[key]

    def _keep(self, world: World, names: list[str]) -> None:
        key = _key(world)
        self._known[key] = names
        if self._folder is not None:
            write_json(self._folder / f"{key}.json", names)


def _missing(error: dict[str, Any] | None, own: str) -> str | None:
    """The module for want of which a load ended, unless it belongs to the package ``own``."""
    if error is None or not str(error.get("root_type", "")).endswith("ModuleNotFoundError"):
        return None
    found = _MISSING.search(str(error.get("root_message", "")))
    return found[1] if found and found[1].partition(".")[0] != own else None


def _key(world: World) -> str:
    return hashlib.sha256(json.dumps(loading_key(world)).encode()).hexdigest()
