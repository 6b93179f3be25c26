"""Releases of the engines: which there are, and one of them ready to be run."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gonogo.engines.types import ENGINES, Engine, engine_named
from gonogo.places import cache_folder
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.progress import Progress
from gonogo.releases.dead_weight import patterns
from gonogo.releases.python import ChildPython, allows, python_for, running
from gonogo.releases.record import LAYOUT, Record, record_in
from gonogo.releases.store import Store, files_on_disk, read_record, write_record
from gonogo.releases.types import CachedRelease, Release

if TYPE_CHECKING:
    from gonogo.releases.index import ReleaseInfo

_RESOLUTION = 2  # one more whenever the same requirements come to other packages
_DAY = 86400.0


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
        cached = [version for name, version, _ in self._in_cache() if name == engine]
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
        found = [
            (engine, version, record, self._files(engine, version)) for engine, version, record in self._in_cache()
        ]
        answer = []
        for engine, version, record, files in found:
            others = [each for name, number, _, each in found if (name, number) != (engine, version)]
            own = sum(size for file, size in files.items() if not any(file in other for other in others))
            path = self._store.release(engine, version)
            has_packages = bool(_environments_of(path))
            answer.append(CachedRelease(engine, version, record.date, sum(files.values()), own, path, has_packages))
        return answer

    def get(self, engine: str, version: str) -> Release:
        """The release, fetched first if need be.

        Raises UsageProblem for a release that does not exist or needs a Python that the machine does not have,
        OwnProblem where it cannot be fetched.
        """
        adapter, version = engine_named(engine), _plain_version(version)
        ready = self._ready(adapter, version)
        if ready is not None:
            return ready
        version = self._as_released(engine, version)
        name = f"{engine} {version}"
        try:
            with self._store.lock(f"{engine}-{version}"):
                ready = self._ready(adapter, version)
                if ready is not None:  # another process has just made it
                    return ready
                if self._record(engine, version) is None:
                    self._fetch(adapter, version)
                record = self._record(engine, version)
                if record is None:
                    raise OwnProblem(f"the cache {self._store.folder} does not keep what is written into it")
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

    def remove(self, engine: str, version: str) -> None:
        """Remove a release from the cache, and environments no other uses. Raises UsageProblem if it is not there."""
        engine_named(engine)
        version = _plain_version(version)
        place = self._store.release(engine, version)
        if not place.exists():
            held = ", ".join(f"{name} {number}" for name, number, _ in self._in_cache()) or "nothing"
            raise UsageProblem(f"{engine} {version} is not in the cache, which holds {held}")
        with (
            self._store.lock(f"{engine}-{version}"),
            self._store.lock("environments"),
            self._store.writing("the cache"),
        ):
            self._store.discard(place)
            self._sweep(0)

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

    def _in_cache(self) -> Iterator[tuple[str, str, Record]]:
        for folder in self._store.releases():
            engine, _, version = folder.name.partition("-")
            record = self._record(engine, version) if engine in ENGINES else None
            if record is not None:
                yield engine, version, record

    def _record(self, engine: str, version: str) -> Record | None:
        """What is written of an unpacked release; None where there is none, or a damaged one."""
        return record_in(self._store.release(engine, version))

    def _ready(self, adapter: Engine, version: str, *, lenient: bool = False) -> Release | None:
        """The release if all of it is in the cache. Reads three small files and starts nothing.

        ``lenient``: an environment that another gonogo made, or for another Python that is here, will do.
        """
        record = self._record(adapter.name, version)
        if record is None:
            return None
        place, here = self._store.release(adapter.name, version), running()
        if allows(record.requires_python, here.version) and not lenient:
            candidates = [place / f"environment-{here.series}.json"]
        else:
            candidates = sorted(place.glob("environment-*.json"), reverse=True)
        for path in candidates:
            furnished = read_record(path)
            if furnished is None or (furnished.get("rules") != _rules(adapter) and not lenient):
                continue
            try:
                site = self._store.environment(furnished["environment"])
                python = here.path if furnished["series"] == here.series else Path(furnished["python"])
                versions = {str(name): str(number) for name, number in furnished["versions"].items()}
                notes = [str(note) for note in furnished.get("notes", [])]
            except (KeyError, TypeError, AttributeError):
                continue
            if python.exists() and read_record(site / "record.json") is not None and (site / "site").is_dir():
                for note in (*record.notes, *(f"{adapter.name} {version}: {note}" for note in notes)):
                    self._note(note)
                return Release(
                    engine=adapter.name,
                    version=version,
                    root=place / "tree",
                    requires_python=record.requires_python,
                    date=record.date,
                    environment=site / "site",
                    python=python,
                    versions=versions | {adapter.name: version},
                    identity=_hash([LAYOUT, record.content, site.name, versions]),
                    build=record.build,
                )
        return None

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

        spelt = [number for name, number, _ in self._in_cache() if name == engine]
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
        """Find the packages of an unpacked release and build its environment. Call with the release's lock held."""
        from gonogo.releases.environment import build
        from gonogo.releases.requirements import resolve

        name = f"{adapter.name} {version}"
        path = self._store.release(adapter.name, version) / f"environment-{python.series}.json"
        self._progress.say(f"{name}: finding its packages")
        with self._store.lock("environments"):
            date = record.date if record.dated else None
            found = resolve(self._store, adapter, record.requirements, date, python)
            self._progress.say(f"{name}: fetching {len(found.installed)} packages")
            environment = build(self._store, found.installed, python)
            with self._store.writing(name):
                write_record(
                    path,
                    {
                        "environment": environment,
                        "rules": _rules(adapter),
                        "series": python.series,
                        "python": str(python.path),
                        "versions": found.versions,
                        "notes": found.notes,
                    },
                )
                self._sweep()

    def _sweep(self, older_than: float = _DAY) -> None:
        """Remove environments that no release names; younger ones may still be in use by a dry run."""
        used = {name for folder in self._store.releases() for name in _environments_of(folder)}
        for environment in self._store.environments():
            if environment.name not in used and time.time() - environment.stat().st_mtime >= older_than:
                self._store.discard(environment)

    def _files(self, engine: str, version: str) -> dict[tuple[int, int], int]:
        place = self._store.release(engine, version)
        files = files_on_disk(place)
        for environment in _environments_of(place):
            files |= files_on_disk(self._store.environment(environment))
        return files


def _environments_of(release: Path) -> set[str]:
    records = [read_record(path) for path in release.glob("environment-*.json")]
    return {str(record["environment"]) for record in records if record and "environment" in record}


def _plain_version(text: str) -> str:
    """``v0.33.0`` and ``0.33.0+cu129`` as ``0.33.0``: the index has one source for all builds."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text).public
    except InvalidVersion:
        raise UsageProblem(f"{_quoted(text)} is no version: write for instance 1.2.3") from None


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}...")


def _rules(adapter: Engine) -> str:
    """Changes when environments have to be made anew because gonogo leaves out something else than it did."""
    return _hash([LAYOUT, _RESOLUTION, adapter.table.get("environment", {}), patterns()])


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
