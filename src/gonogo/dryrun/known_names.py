"""Decisions that are none: whether a package that a world pretends to have holds a name can be read in its wheel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gonogo.dryrun.packages import imports_of, vendors_table
from gonogo.dryrun.world import World
from gonogo.releases.surfaces import Surfaces

#: Kinds of decisions on whether a name is there.
KINDS = ("import", "attribute", "hasattr")


class KnownNames:
    """Tells what is known of the names that an engine asked its packages for."""

    def __init__(self, surfaces: Surfaces | None) -> None:
        """``surfaces`` reads wheels; without it nothing is known."""
        self._surfaces = surfaces

    def answers(self, world: World, decisions: Iterable[dict[str, Any]]) -> dict[str, bool]:
        """Of the ``decisions`` about names (usual answer: it is there) those whose answer is known, by key."""
        found: dict[str, bool] = {}
        if self._surfaces is None:
            return found
        for row in decisions:
            if row["kind"] not in KINDS or row["usual"] is not True or not _is_plain(row["name"]):
                continue
            distribution = distribution_of(world, row["name"])
            version = world.release.versions.get(distribution) if distribution else None
            if distribution is None or version is None:
                continue
            known = self._surfaces.has(distribution, version, row["name"])
            if known is not None:
                found[row["key"]] = known
        return found


def _is_plain(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def distribution_of(world: World, name: str) -> str | None:
    """The distribution that brings a module, by the engine's table, else by the name that both share."""
    table = vendors_table(world.engine, world.hardware.gpu.vendor)
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        if module in table:
            return table[module] or None
    return next((each for each in world.release.versions if parts[0] in imports_of(world.release, each)), None)
