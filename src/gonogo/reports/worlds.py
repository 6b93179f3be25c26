"""Worlds that fared alike, and in words where they lie among all that were tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gonogo.check.result import WorldResult
from gonogo.dryrun.outcome import OutcomeKind

_ORDER: tuple[OutcomeKind, ...] = ("refused", "crashed", "unclear", "passed")
_MOST_LISTED = 8


@dataclass(frozen=True)
class Alike:
    """Worlds with the same outcome and, where there is one, the same error or the same reason."""

    outcome: OutcomeKind
    worlds: tuple[WorldResult, ...]


def grouped(worlds: Iterable[WorldResult]) -> tuple[Alike, ...]:
    """All worlds, those alike together: refusals first, passes last."""
    groups: dict[tuple[object, ...], list[WorldResult]] = {}
    for world in worlds:
        error = (world.error.id, world.error.type) if world.error else None
        groups.setdefault((world.outcome, error, world.reason), []).append(world)
    found = [Alike(together[0].outcome, tuple(together)) for together in groups.values()]
    return tuple(sorted(found, key=lambda group: _ORDER.index(group.outcome)))


def hardware_of(world: WorldResult) -> str:
    """As people write it: ``8x H100-80GB``, ``2 nodes of 8x H100-80GB``, ``cpu``."""
    if world.count == 0:
        return world.gpu
    each = f"{world.count}x {world.gpu}"
    return each if world.nodes == 1 else f"{world.nodes} nodes of {each}"


def place_of(group: Alike, worlds: Sequence[WorldResult]) -> str:
    """Where a group's worlds lie among all: ``on A100-80GB, L4`` or ``in 0.32.0 with ORG/NAME``; empty if it is all."""
    same_size = len({(world.count, world.nodes) for world in worlds}) == 1
    ways = {
        "in": [world.release for world in worlds],
        "on": [world.gpu if same_size else hardware_of(world) for world in worlds],
        "with": [world.model or "no model" for world in worlds],
    }
    mine = {id(world) for world in group.worlds}
    inside = [index for index, world in enumerate(worlds) if id(world) in mine]
    telling = [way for way, values in ways.items() if {values[index] for index in inside} != set(values)]
    if not telling:
        telling = [way for way, values in ways.items() if len(set(values)) > 1]
    places = list(dict.fromkeys(tuple(ways[way][index] for way in telling) for index in inside))
    elsewhere = {
        tuple(ways[way][index] for way in telling) for index, world in enumerate(worlds) if id(world) not in mine
    }
    columns = [list(dict.fromkeys(column)) for column in zip(*places, strict=True)]
    size = 1
    for column in columns:
        size *= len(column)
    if size == len(places) and not elsewhere.intersection(places):
        return " ".join(f"{way} {listed(column)}" for way, column in zip(telling, columns, strict=True))
    varied = [way for way, values in ways.items() if len(set(values)) > 1]
    single = dict.fromkeys(" ".join(f"{way} {ways[way][index]}" for way in varied) for index in inside)
    return listed(list(single), "; ")


def listed(values: Sequence[str], between: str = ", ") -> str:
    """The values in a row; of more than eight the first eight and how many more there are."""
    rest = len(values) - _MOST_LISTED
    shown = between.join(values[:_MOST_LISTED])
    return f"{shown} and {rest} more" if rest > 0 else shown
