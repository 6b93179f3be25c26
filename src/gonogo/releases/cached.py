"""The releases in the cache: which are there, which of them are ready to be run, how large they are."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gonogo.engines.types import ENGINES, Engine
from gonogo.releases.dead_weight import patterns
from gonogo.releases.python import allows, running
from gonogo.releases.record import LAYOUT, Record, record_in
from gonogo.releases.store import Store, files_on_disk, read_record
from gonogo.releases.types import CachedRelease, Release

#: Stands between version and content in the key of a release that was taken from a folder; no version has it.
MARK = "@"
_DAY = 86400.0

_RESOLUTION = 2  # one more whenever the same requirements come to other packages


def in_cache(store: Store) -> Iterator[tuple[str, str, Record]]:
    """Engine, key (its version; of one that was taken from a folder more) and record of every unpacked release."""
    for folder in store.releases():
        engine, _, key = folder.name.partition("-")
        record = record_in(folder) if engine in ENGINES else None
        if record is not None:
            yield engine, key, record


def ready_release(
    store: Store, adapter: Engine, key: str, note: Callable[[str], None], *, lenient: bool = False
) -> Release | None:
    """The release if all of it is in the cache. Reads three small files and starts nothing.

    ``lenient``: an environment that another gonogo made, or for another Python that is here, will do. ``note`` is given
    what a user should be told.
    """
    place, here = store.release(adapter.name, key), running()
    record = record_in(place)
    if record is None:
        return None
    if allows(record.requires_python, here.version) and not lenient:
        candidates = [place / f"environment-{here.series}.json"]
    else:
        candidates = sorted(place.glob("environment-*.json"), reverse=True)
    for path in candidates:
        furnished = read_record(path)
        if furnished is None or (furnished.get("rules") != rules(adapter) and not lenient):
            continue
        try:
            site = store.environment(furnished["environment"])
            python = here.path if furnished["series"] == here.series else Path(furnished["python"])
            versions = {str(name): str(number) for name, number in furnished["versions"].items()}
            notes = [str(told) for told in furnished.get("notes", [])]
        except (KeyError, TypeError, AttributeError):
            continue
        if not (python.exists() and read_record(site / "record.json") is not None and (site / "site").is_dir()):
            continue
        for told in (*record.notes, *(f"{adapter.name} {record.version}: {each}" for each in notes)):
            note(told)
        return Release(
            engine=adapter.name,
            version=record.version,
            root=place / "tree",
            requires_python=record.requires_python,
            date=record.date,
            environment=site / "site",
            python=python,
            versions=versions | {adapter.name: record.version},
            identity=_hash([LAYOUT, record.content, site.name, versions]),
            build=record.build,
            published=record.published,
            installed=record.installed,
        )
    return None


def rules(adapter: Engine) -> str:
    """Changes when environments have to be made anew because gonogo leaves out something else than it did."""
    return _hash([LAYOUT, _RESOLUTION, adapter.table.get("environment", {}), patterns()])


def sizes(store: Store) -> list[CachedRelease]:
    """What is in the cache, with sizes. Reads the sizes of all files: some tenths of a second."""
    found = [(key, record, _files(store, engine, key)) for engine, key, record in in_cache(store)]
    answer = []
    for key, record, files in found:
        others = [each for number, other, each in found if (other.engine, number) != (record.engine, key)]
        own = sum(size for file, size in files.items() if not any(file in other for other in others))
        path = store.release(record.engine, key)
        answer.append(
            CachedRelease(
                record.engine,
                record.version,
                record.date,
                sum(files.values()),
                own,
                path,
                bool(environments_of(path)),
                record.folder,
            )
        )
    return answer


def sweep(store: Store, older_than: float = _DAY) -> None:
    """Remove environments that no release names; younger ones may still be in use by a dry run."""
    used = {name for folder in store.releases() for name in environments_of(folder)}
    for environment in store.environments():
        if environment.name not in used and time.time() - environment.stat().st_mtime >= older_than:
            store.discard(environment)


def environments_of(release: Path) -> set[str]:
    """The environments that a release names."""
    records = [read_record(path) for path in release.glob("environment-*.json")]
    return {str(record["environment"]) for record in records if record and "environment" in record}


def _files(store: Store, engine: str, key: str) -> dict[tuple[int, int], int]:
    place = store.release(engine, key)
    files = files_on_disk(place)
    for environment in environments_of(place):
        files |= files_on_disk(store.environment(environment))
    return files


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
