"""Plugins that a launch names and the release does not bring: installed code that the engine would run."""

from __future__ import annotations

import importlib.metadata

from gonogo.dryrun.world import World
from gonogo.launches.types import Launch


def foreign_plugins(launch: Launch, world: World) -> list[str]:
    """``name (VARIABLE)`` of each plugin in the launch's environment that is no entry point of the release's own."""
    variables = world.engine.table["plugins"]["variables"]
    named = [
        (name.strip(), variable)
        for variable in variables
        for name in launch.env.get(variable, "").split(",")
        if name.strip()
    ]
    own = _own_entry_points(world) if named else set()
    return [f"{name} ({variable})" for name, variable in named if name not in own]


def _own_entry_points(world: World) -> set[str]:
    return {
        entry.name
        for place in world.release.root.iterdir()
        if place.suffix in (".dist-info", ".egg-info")
        for entry in importlib.metadata.Distribution.at(place).entry_points
    }
