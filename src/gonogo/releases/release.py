"""Releases of the engines: which there are, and one of them ready to be run."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gonogo.engines.types import ENGINES, Engine, engine_named
from gonogo.places import cache_folder
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.progress import Progress
from gonogo.releases.cached import MARK, in_cache, ready_release, sizes, sweep
from gonogo.releases.python import ChildPython, python_for
from gonogo.releases.record import Record, record_in, touch
from gonogo.releases.store import Store
from gonogo.releases.types import CachedRelease, Release

if TYPE_CHECKING:
    from gonogo.releases.folders import EngineFolder
    from gonogo.releases.index import ReleaseInfo


class Releases:
    """The releases of all engines, over one cache folder. ``notes`` collects what a user should be told, once each."""

    def __init__(self, folder: Path | None = None, progress: Progress | None = None) -> None:
        """``folder`` is gonogo's cache folder unless given; ``progress`` shows downloads."""
        self._store = Store(cache_folder() if folder is None else folder)
        self._progress = Progress() if progress is None else progress
        self._known: dict[str, list[ReleaseInfo]] = {}
        self._offline: dict[str, str] = {}
        self.notes: list[str] = []

    def parse(self, spec: str) -> tuple[str, str | None]:
        """Engine and version of ``vllm==0.33.0``, engine and None of ``vllm``. Raises UsageProblem for the rest."""
        engine, equals, version = (part.strip() for part in spec.partition("=="))
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", engine) or (equals and not version):
            raise UsageProblem(
                f"{_quoted(spec)} names no release: write {ENGINES[0]}==1.2.3, or {ENGINES[0]} for the newest"
            )
        engine_named(engine)
        return engine, _plain_version(version) if equals else None

    def known(self, engine: str) -> list[ReleaseInfo]:
        """All releases that the package index has, newest first. Raises OwnProblem where nothing is known of it."""
        known = self._ask(engine)
        if engine in self._offline:
            self._note(self._offline[engine])
        return known

    def newest(self, engine: str) -> str:
        """The newest release that is neither a pre-release nor yanked; without network the newest in the cache."""
        from packaging.version import Version

        problem: OwnProblem | None = None
        final: list[str] = []
        try:
            final = [info.version for info in self._ask(engine) if not info.prerelease and not info.yanked]
        except OwnProblem as caught:
            problem = caught
        if final and engine not in self._offline:
            return final[0]
        cached = [key for name, key, _ in in_cache(self._store) if name == engine and MARK not in key]
        cached = [version for version in cached if version in final or not (final or Version(version).is_prerelease)]
        if cached:
            newest = max(cached, key=Version)
            self._note(f"{engine} {newest} is the newest in the cache: {problem or self._offline.get(engine, '')}")
            return newest
        if final:
            return final[0]
        raise problem or OwnProblem(f"the package index has no finished release of {engine}")

    def cached(self) -> list[CachedRelease]:
        """What is in the cache, with sizes. Reads the sizes of all files: some tenths of a second."""
        return sizes(self._store)

    def is_folder(self, spec: str) -> bool:
        """Whether what says which release is meant is a path, and not a name with or without a version."""
        if spec.partition("=")[0].strip() in ENGINES:
            return False
        return os.sep in spec or spec.startswith((".", "~")) or _is_there(spec)

    def take(self, engine: str, folder: Path) -> str:
        """The key by which get() knows what a folder holds of an engine now; that is copied into the cache first.

        A folder is a checkout, an unpacked sdist or wheel, a site folder or a virtual environment. Raises UsageProblem
        where it does not hold the engine, OwnProblem where it cannot be read.
        """
        from gonogo.releases.folders import engines_in

        there = engines_in(_resolved(folder))
        found = next((one for one in there if one.engine.name == engine), None)
        if found is None:
            raise UsageProblem(f"{folder} holds {there[0].engine.name}, not {engine}")
        return self._take(found)

    def take_all(self, folder: Path) -> list[tuple[str, str]]:
        """Every engine in a folder with its key; see take()."""
        from gonogo.releases.folders import engines_in

        return [(one.engine.name, self._take(one)) for one in engines_in(_resolved(folder))]

    def installed(self, engine: str) -> str | None:
        """The key of the engine in the active virtual environment, or in the Python that runs gonogo; None: in neither."""
        from gonogo.releases.installed import active_engine

        found = active_engine(engine_named(engine))
        return None if found is None else self._take(found)

    def _take(self, found: EngineFolder) -> str:
        from gonogo.releases.copies import copy_of
        from gonogo.releases.nearest import Nearest

        try:
            return copy_of(self._store, found, Nearest(self))
        finally:
            self._progress.clear()

    def get(self, engine: str, version: str) -> Release:
        """The release, fetched first if need be.

        Raises UsageProblem for a release that does not exist or needs a Python that the machine does not have,
        OwnProblem where it cannot be fetched.
        """
        adapter = engine_named(engine)
        if MARK in version:
            touch(self._store.release(engine, version))
        else:
            version = _plain_version(version)
        ready = self._ready(adapter, version)
        if ready is not None:
            return ready
        version = version if MARK in version else self._as_released(engine, version)
        name = f"{engine} {version.partition(MARK)[0]}"
        try:
            with self._store.lock(f"{engine}-{version}"):
                ready = self._ready(adapter, version)
                if ready is not None:  # another process has just made it
                    return ready
                record = self._unpacked(adapter, version)
                try:
                    self._furnish(adapter, version, record, python_for(record.requires_python, name))
                except OwnProblem as problem:
                    other = self._ready(adapter, version, lenient=True)
                    if other is None:
                        raise
                    self._note(f"{name} runs with an older environment of another gonogo or Python: {problem}")
                    return other
        finally:
            self._progress.clear()
        ready = self._ready(adapter, version)
        if ready is None:
            raise OwnProblem(f"the cache {self._store.folder} does not keep what is written into it")
        return ready

    def source(self, engine: str, version: str) -> Path:
        """The folder with the record and the tree of a release of the index, fetched first if need be. See get()."""
        with self._store.lock(f"{engine}-{version}"):
            self._unpacked(engine_named(engine), version)
        return self._store.release(engine, version)

    def remove(self, engine: str, version: str) -> list[str]:
        """Remove a release from the cache, and environments no other uses; its versions, as they were written there.

        Raises UsageProblem if it is not there.
        """
        engine_named(engine)
        keys = [_plain_version(version)]
        if not self._store.release(engine, keys[0]).exists():
            keys = [key for name, key, record in in_cache(self._store) if _is_meant(engine, version, name, key, record)]
        if not keys:
            held = ", ".join(f"{name} {record.version}" for name, _, record in in_cache(self._store)) or "nothing"
            raise UsageProblem(f"{engine} {version} is not in the cache, which holds {held}")
        self._remove(engine, keys)
        return sorted({key.partition(MARK)[0] for key in keys})

    def remove_folder(self, folder: Path) -> list[tuple[str, str]]:
        """Remove what was taken from a folder, which may be gone; engines and versions. Raises UsageProblem for nothing."""
        place = _resolved(folder)
        found = [
            (engine, key, record.version)
            for engine, key, record in in_cache(self._store)
            if record.folder is not None and Path(record.folder).is_relative_to(place)
        ]
        if not found:
            raise UsageProblem(f"nothing in the cache was taken from {folder}")
        for engine in {engine for engine, _, _ in found}:
            self._remove(engine, [key for name, key, _ in found if name == engine])
        return sorted({(engine, version) for engine, _, version in found})

    def version_on(self, project: str, date: datetime) -> str | None:
        """The newest version that any project had on a day; None where the index has none. Remembered.

        Raises OwnProblem where the index cannot be reached.
        """
        from gonogo.releases.index import version_on

        return version_on(self._store, project, date)

    def _remove(self, engine: str, keys: list[str]) -> None:
        for key in keys:
            with (
                self._store.lock(f"{engine}-{key}"),
                self._store.lock("environments"),
                self._store.writing("the cache"),
            ):
                self._store.discard(self._store.release(engine, key))
                sweep(self._store, 0)

    def _ask(self, engine: str, *, fresh: bool = False) -> list[ReleaseInfo]:
        from gonogo.releases.index import listing

        engine_named(engine)
        if fresh or engine not in self._known:
            found = listing(self._store, engine, fresh=fresh)
            self._known[engine] = list(found.releases)
            if found.note:
                self._offline[engine] = found.note
        return self._known[engine]

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _ready(self, adapter: Engine, version: str, *, lenient: bool = False) -> Release | None:
        return ready_release(self._store, adapter, version, self._note, lenient=lenient)

    def _unpacked(self, adapter: Engine, version: str) -> Record:
        """The record of a release, fetched first if need be. Call with its lock held."""
        place = self._store.release(adapter.name, version)
        if record_in(place) is None:
            self._fetch(adapter, version)
        record = record_in(place)
        if record is None:
            raise OwnProblem(f"the cache {self._store.folder} does not keep what is written into it")
        return record

    def _fetch(self, adapter: Engine, version: str) -> None:
        """Fetch and unpack a release. Call with its lock held."""
        from gonogo.releases.fetch import fetch

        info = self._info(adapter.name, version)
        name = f"{adapter.name} {version}"
        python_for(info.requires_python, name)
        with self._store.partial(f"{adapter.name}-{version}") as workspace, self._store.writing(name):
            made = workspace / "made"
            fetch(adapter, info, workspace, made, self._progress)
            self._store.publish(made, self._store.release(adapter.name, version))

    def _as_released(self, engine: str, version: str) -> str:
        """``version`` in the digits that the release has: 1.0 is 1.0.0 where there is no other."""
        from packaging.version import Version

        spelt = [key for name, key, _ in in_cache(self._store) if name == engine and MARK not in key]
        if version not in spelt and not any(Version(one) == Version(version) for one in spelt):
            spelt = [info.version for info in self._ask(engine)]
        return next((one for one in spelt if Version(one) == Version(version)), version)

    def _info(self, engine: str, version: str) -> ReleaseInfo:
        from gonogo.releases.index import no_such_release

        known = self._ask(engine)
        if not any(info.version == version for info in known) and engine not in self._offline:
            known = self._ask(engine, fresh=True)  # it may be newer than the remembered listing
        for info in known:
            if info.version == version:
                if info.yanked:
                    self._note(f"{engine} {version} was withdrawn (yanked) by its makers")
                return info
        if engine in self._offline:
            self._note(self._offline[engine])
        raise no_such_release(engine, version, [info.version for info in known])

    def _furnish(self, adapter: Engine, version: str, record: Record, python: ChildPython) -> None:
        from gonogo.releases.furnish import furnish

        furnish(self._store, adapter, version, record, python, self._progress)


def _is_there(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # too long for a name, or with a null byte
        return False


def _resolved(folder: Path) -> Path:
    try:
        return folder.expanduser().resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageProblem(f"{_quoted(str(folder))} is no folder ({error})") from None


def _is_meant(engine: str, version: str, name: str, key: str, record: Record) -> bool:
    """Whether a release in the cache that was taken from a folder is of this version."""
    return name == engine and MARK in key and version in (record.version, record.version.partition("+")[0])


def _plain_version(text: str) -> str:
    """``v0.33.0`` and ``0.33.0+cu129`` as ``0.33.0``: the index has one source for all builds."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text).public
    except InvalidVersion:
        raise UsageProblem(f"{_quoted(text)} is no version: write for instance 1.2.3") from None


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}...")
