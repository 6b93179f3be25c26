"""Outcomes that were found before, on disk: by release, environment, world, launch, model facts and gonogo's version."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from gonogo.dryrun.answer import Answer
from gonogo.dryrun.store import read_json, write_json
from gonogo.dryrun.world import World
from gonogo.models.find import Models
from gonogo.models.identity import identity

_HERE = Path(__file__).parent
_NOT_KEPT = ("decisions", "missing", "traceback", "new_modules", "id")


@cache
def own_version() -> str:
    """A digest of everything in gonogo that shapes an outcome, so that a changed gonogo never answers with an old one."""
    digest = hashlib.sha256()
    for folder in (_HERE, _HERE.parent / "engines"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".toml"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def loading_key(world: World) -> list[Any]:
    """All that loading the engine depends on, but for the launch: gonogo, release, vendor, packages."""
    return [own_version(), world.release.identity, world.hardware.gpu.vendor, sorted(world.packages.items())]


class Memory:
    """A folder of remembered answers."""

    def __init__(self, folder: Path) -> None:
        """``folder`` need not exist."""
        self.folder = folder

    def recall(self, request: dict[str, Any], world: World, models: Models) -> Answer | None:
        """The remembered answer, if every model that the engine asked for still has the same facts."""
        record = read_json(self._path(request, world))
        try:
            for name, known in record["models"].items():
                if self._identity(models, name) != known:
                    return None
            told = (tuple(record[key]) for key in ("depends", "asked", "missing", "assumed", "workers"))
            return Answer(dict(record["words"]), *told)
        except (KeyError, TypeError, AttributeError, ValueError):
            return None

    def keep(self, request: dict[str, Any], world: World, models: Models, answer: Answer) -> None:
        """Remember an answer; a full disk loses the memory, not the answer."""
        if answer.words["outcome"] == "unclear":
            return
        names = {name: self._identity(models, name) for name in request["models"]}
        words = {key: value for key, value in answer.words.items() if key not in _NOT_KEPT}
        record = {
            "models": names,
            "words": words,
            "depends": answer.depends,
            "asked": answer.asked,
            "missing": answer.missing,
            "assumed": answer.assumed,
            "workers": answer.workers,
        }
        write_json(self._path(request, world), record)

    def _path(self, request: dict[str, Any], world: World) -> Path:
        description = world.description()
        for key in ("adapter", "release_root", "environment"):
            description.pop(key)
        asked = {key: value for key, value in request.items() if key not in ("models", "paths")}
        paths = {word: _content(facts) for word, facts in request["paths"].items()}
        key = json.dumps([own_version(), world.release.identity, description, asked, paths], sort_keys=True)
        digest = hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
        return self.folder / digest[:2] / f"{digest}.json"

    @staticmethod
    def _identity(models: Models, name: str) -> str | None:
        facts = models.facts(name)
        return None if facts is None else identity(facts)


def _content(facts: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(facts.get("listed")).encode())
    for name, path in sorted(facts["files"].items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()
