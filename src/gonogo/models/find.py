"""Where the facts of a model come from: a models folder, a folder, the hub cache, the hub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gonogo.models import factfiles, hubcache
from gonogo.models.mounted import Mounts
from gonogo.models.names import is_path, is_repository, is_sane, last_parts, repository_in_cache_path
from gonogo.models.types import ModelFacts, Origin
from gonogo.places import cache_folder
from gonogo.problems import UsageProblem
from gonogo.progress import Progress

if TYPE_CHECKING:
    from gonogo.models.hub import Hub


class Models:
    """Answers "the facts of this model, please". Each name is looked up once; ``notes`` says why one was not had.

    ``models_dir`` is a hub in a folder (``ORG/NAME/config.json`` …, or laid out like the hub cache). ``mounted`` says
    which model a path of the launch is: a repository or a folder. ``folder`` is what relative paths start from. With
    ``hub`` False nothing is asked of the network; HF_HUB_OFFLINE does the same. ``cache`` is gonogo's own.
    """

    def __init__(
        self,
        models_dir: Path | None = None,
        mounted: Mapping[str, str | Path] | None = None,
        folder: Path | None = None,
        hub: bool = True,
        cache: Path | None = None,
        progress: Progress | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """UsageProblem: ``models_dir`` is no folder, a target of ``mounted`` is neither a folder nor a repository."""
        self.notes: list[str] = []
        self._folder = _working_folder() if folder is None else folder
        self._models_dir = None if models_dir is None else self._folder / models_dir.expanduser()
        if self._models_dir is not None and not self._models_dir.is_dir():
            raise UsageProblem(f"--models-dir {models_dir}: no such folder")
        self._mounts = Mounts(mounted or {}, self._folder)
        self._environ = environ
        self._cache = (cache_folder() if cache is None else cache) / "models"
        self._progress = progress
        self._ask_hub = hub and not hubcache.is_offline(environ)
        self._asked: dict[tuple[str, str | None], ModelFacts | None] = {}
        self._in_models_dir: dict[str, Path] | None = None
        self._hub_object: Hub | None = None

    def facts(self, name: str, revision: str | None = None) -> ModelFacts | None:
        """The facts of the model ``name``, a repository or a path; None where they can't be had (see ``notes``).

        Tried in this order: ``mounted``, the models folder, an existing folder, the hub cache, the hub. ``revision``
        counts for the last two. UsageProblem: broken model facts, naming the file.
        """
        key = (name, revision)
        if key not in self._asked:
            self._asked[key] = self._find(name, revision)
        return self._asked[key]

    def local(self, word: str) -> ModelFacts | None:
        """The facts of a path in a launch: what ``mounted`` says of it, else an existing folder that holds a model."""
        if not is_sane(word):
            return None
        mount = self._mounts.find(word)
        if mount is not None:
            return self._mounted(word, *mount)
        return self._from_folder(word)

    def similar(self, name: str) -> ModelFacts | None:
        """The facts of the one model that a path or a bare name seems to mean; for a caller that says "assumed".

        ``./Qwen3-8B/`` seems to mean the only model of the models folder that ends so, in any case of letters;
        ``/data/Qwen/Qwen3-8B`` the one that ends in both parts; ``…/models--ORG--NAME/snapshots/…`` the repository.
        """
        if not is_sane(name):
            return None
        repository = repository_in_cache_path(name)
        if repository and is_repository(repository):
            found = self.facts(repository)
            return found and replace(found, name=name)
        parts = last_parts(name)
        if not parts or ("/" in name and not is_path(name)):
            return None
        models = self._models()
        for same in (len(parts), 1):
            alike = [place for known, place in models.items() if last_parts(known)[:same] == parts[:same]]
            if len(alike) == 1:
                return self._read(alike[0], name, "models folder")
        return None

    def _find(self, name: str, revision: str | None) -> ModelFacts | None:
        if not is_sane(name):
            return self._without("a model's name is empty, longer than any path, or no text")
        mount = self._mounts.find(name)
        if mount is not None:
            return self._mounted(name, *mount)
        return self._unmounted(name, revision)

    def _unmounted(self, name: str, revision: str | None) -> ModelFacts | None:
        if not is_repository(name):
            return self._from_folder(name) or self._without(
                f"{name[:200]} is neither a folder with a model nor a repository: say what it is with --model-facts"
            )
        return self._from_models_dir(name) or self._from_folder(name) or self._from_hub(name, revision)

    def _mounted(self, word: str, target: str | Path, rest: str) -> ModelFacts | None:
        if isinstance(target, Path):
            return self._read(target / rest, word, "folder") or self._without(f"{word}: {target / rest} holds no model")
        found = self._unmounted(target, None)
        if found is None:
            return None  # and the note of the repository says why
        return _below(replace(found, name=word), rest) or self._without(f"{word}: {target} has no model in {rest}")

    def _from_folder(self, word: str) -> ModelFacts | None:
        # As a shell would have done before the engine saw it; os.path's version never raises.
        return self._read(self._folder / os.path.expanduser(word), word, "folder")  # noqa: PTH111

    def _from_models_dir(self, name: str) -> ModelFacts | None:
        if self._models_dir is None:
            return None
        place = self._models_dir / name
        if not place.is_dir():
            known = self._models().get(name.lower())
            if known is None:
                found = hubcache.read(self._models_dir, name)
                return found and replace(found, origin="models folder")
            place = known
        return self._read(place, name, "models folder")

    def _models(self) -> dict[str, Path]:
        """The folders of the models folder by name in lower case: ``org/name``, and ``name`` for those without org."""
        if self._in_models_dir is None:
            self._in_models_dir = {}
            for entry in _folders(self._models_dir):
                if any((entry / name).is_file() for name in factfiles.TELLING):
                    self._in_models_dir.setdefault(entry.name.lower(), entry)
                    continue
                for inner in _folders(entry):
                    self._in_models_dir.setdefault(f"{entry.name}/{inner.name}".lower(), inner)
        return self._in_models_dir

    def _from_hub(self, name: str, revision: str | None) -> ModelFacts | None:
        cached = hubcache.read(hubcache.cache_folder(self._environ), name, revision)
        if cached is not None and hubcache.is_complete(cached):
            return cached
        hub = self._hub()
        recorded = hub.recorded(name, revision, any_age=not self._ask_hub)
        if recorded is not None:
            return recorded
        if not self._ask_hub:
            return cached or self._without(f"{name}: no facts here, and the hub is not to be asked")
        answer = hub.ask(name, revision)
        if answer.note:
            self._without(answer.note)
        return answer.facts or hub.recorded(name, revision, any_age=True) or cached

    def _hub(self) -> Hub:
        if self._hub_object is None:
            from gonogo.models.hub import Hub  # late: most checks never come here, and it takes its time

            self._hub_object = Hub(self._cache, self._progress, self._environ)
        return self._hub_object

    def _read(self, place: Path, name: str, origin: Origin) -> ModelFacts | None:
        try:
            return factfiles.read_folder(place, name, origin, self._cache) if place.is_dir() else None
        except OSError as error:  # a name too long for the system, a folder of somebody else's
            return self._without(f"{name[:200]}: {str(place)[:200]} can't be read: {error.strerror}")

    def _without(self, note: str) -> ModelFacts | None:
        """None, and ``note`` says why, on one line that any terminal can show (names hold what their writers like)."""
        note = " ".join(note.encode(errors="backslashreplace").decode().split())
        if note not in self.notes:
            self.notes.append(note)
        return None


def _working_folder() -> Path:
    """Where relative paths start; where the working folder was deleted, a place below which nothing is."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.devnull)


def _below(facts: ModelFacts, rest: str) -> ModelFacts | None:
    """What ``facts`` say of the folder ``rest`` inside the model."""
    if not rest:
        return facts
    start = rest + "/"
    files = {name.removeprefix(start): place for name, place in facts.files.items() if name.startswith(start)}
    listed = facts.listed and frozenset(name.removeprefix(start) for name in facts.listed if name.startswith(start))
    return replace(facts, files=files, listed=listed, absent=frozenset(), weights=None) if files else None


def _folders(place: Path | None) -> list[Path]:
    if place is None:
        return []
    try:
        entries = list(os.scandir(place))
    except OSError:  # not ours to read: as good as empty
        return []
    return sorted(Path(entry.path) for entry in entries if entry.is_dir() and not entry.name.startswith("."))
