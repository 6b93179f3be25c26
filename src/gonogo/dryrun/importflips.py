"""Which decisions at import time matter: flipped in a child of their own, and a battery of launches run again.

An engine decides some sixty things on unknown values while it is loaded (is this compiled operator registered?). Whether
one of them matters is not guessed: it is answered the other way, and the battery is compared. Decisions are flipped
together and the group is halved where something changes, so a release costs some tens of loads, once per vendor.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gonogo.dryrun.memory import loading_key
from gonogo.dryrun.process import ChildProcess
from gonogo.dryrun.signature import signature
from gonogo.dryrun.store import read_json, write_json
from gonogo.dryrun.world import World
from gonogo.models.standins import SHAPES, stand_in
from gonogo.problems import OwnProblem

Start = Callable[[World, dict[str, Any]], ChildProcess]


class ImportFlips:
    """Finds and remembers which import-time decisions matter, by release and vendor."""

    def __init__(self, folder: Path | None, start: Start, say: Callable[[str], None] = lambda _text: None) -> None:
        """``folder`` keeps what was found (None: nowhere). ``start`` gives a child of a world with decisions forced."""
        self._folder = folder
        self._start = start
        self._say = say
        self._found: dict[str, list[dict[str, Any]]] = {}

    def that_matter(self, world: World, decisions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of ``decisions`` whose other answer changes an outcome of the battery."""
        flippable = [row for row in decisions if row["usual"] != row["other"]]
        digest = hashlib.sha256(
            json.dumps([loading_key(world), [row["key"] for row in flippable]]).encode()
        ).hexdigest()
        if digest not in self._found:
            path = self._folder / f"{digest}.json" if self._folder is not None else None
            known = read_json(path) if path is not None else None
            if isinstance(known, list):
                wanted = set(known)
                self._found[digest] = [row for row in flippable if row["key"] in wanted]
            else:
                self._found[digest] = self._find(world, flippable)
                if path is not None:
                    write_json(path, [row["key"] for row in self._found[digest]])
        return self._found[digest]

    def _find(self, world: World, decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        usual, _ = self._battery(world, {})
        matter: list[dict[str, Any]] = []
        groups = [decisions] if decisions else []
        done = 0
        while groups:
            group = groups.pop()
            self._say(
                f"{world.release.engine} {world.release.version}: which of {len(decisions)} decisions at import matter "
                f"(once per release and vendor): {done} looked at ..."
            )
            flipped, culprit = self._battery(world, {row["key"]: row["other"] for row in group})
            if culprit is not None:
                # A world in which the engine cannot even be loaded is none: in its own image it can.
                rest = [row for row in group if row["key"] != culprit]
                groups += [rest] if rest else []
                done += 1
            elif flipped == usual:
                done += len(group)
            elif len(group) == 1:
                matter += group if flipped is not None else []
                done += 1
            else:
                half = len(group) // 2
                groups += [group[half:], group[:half]]
        return sorted(matter, key=lambda row: str(row["key"]))

    def _battery(self, world: World, forced: dict[str, Any]) -> tuple[list[Any] | None, str | None]:
        """What the battery's launches come to with these decisions forced; and the one that kept the engine from loading.

        None for both where the child died of it, which does not tell of which.
        """
        try:
            child = self._start(world, forced)
        except OwnProblem:
            if not forced:
                raise
            return None, None
        try:
            if child.error is not None:
                hit = child.state.get("hit") or list(forced)
                return None, hit[-1] if hit else None
            answers = sorted(child.ask(battery(world)), key=lambda row: row[0])
            # Resolved values tell more than outcomes: another launch may be refused for what a flip made of one of them.
            return [(*signature(answer), answer.get("resolved")) for _, answer in answers], None
        finally:
            if forced:
                child.close()


def battery(world: World) -> list[dict[str, Any]]:
    """Launches of the engine's table, each with every stand-in shape as its model."""
    requests = []
    for words in world.engine.table["battery"]["launches"]:
        for shape in SHAPES:
            name = f"stand-in/{shape}"
            facts = stand_in(name, shape)
            told = {
                "files": {each: str(path) for each, path in facts.files.items()},
                "listed": sorted(facts.listed or ()),
                "absent": [],
            }
            args = [word.replace("MODEL", name) for word in words[1:]]
            requests.append(
                {
                    "entry": "command",
                    "target": words[0],
                    "args": args,
                    "arguments": {},
                    "positional": [],
                    "env": {},
                    "paths": {},
                    "models": {name: told},
                    "watched": [],
                    "backends": False,
                }
            )
    return requests
