"""From the outcomes in all worlds to one verdict, and what decides where they differ."""

from __future__ import annotations

from collections.abc import Iterable

from gonogo.check.result import VerdictKind, WorldResult

_REFUSING = ("refused", "crashed")


def verdict_of(worlds: Iterable[WorldResult]) -> VerdictKind:
    """GO where all pass, NO-GO where all are refused (or the engine falls over), else HOLD."""
    kinds = {"refused" if world.outcome in _REFUSING else world.outcome for world in worlds}
    if kinds == {"passed"}:
        return "GO"
    return "NO-GO" if kinds == {"refused"} else "HOLD"


def decided_by(worlds: tuple[WorldResult, ...]) -> str | None:
    """What the user left open that decides: ``gpu``, ``model``, ``release``; None where all worlds agree.

    It is what tells the worlds that pass from those that do not by itself; ``several`` where nothing does so alone.
    """
    if verdict_of(worlds) != "HOLD":
        return None
    if len(worlds) == 1 or all(world.outcome == "unclear" for world in worlds):
        return None
    for name, key in (
        ("gpu", lambda world: (world.gpu, world.count, world.nodes)),
        ("model", lambda world: world.model),
        ("release", lambda world: world.release),
    ):
        groups: dict[object, set[bool]] = {}
        for world in worlds:
            groups.setdefault(key(world), set()).add(world.outcome == "passed")
        if len(groups) > 1 and all(len(group) == 1 for group in groups.values()):
            return name
    return "several"


def worst(verdicts: Iterable[VerdictKind]) -> VerdictKind:
    """The worst of NO-GO, HOLD, GO."""
    found = set(verdicts)
    if "NO-GO" in found:
        return "NO-GO"
    return "HOLD" if "HOLD" in found or not found else "GO"
