"""Find the packages of an unpacked release and build its light environment."""

from __future__ import annotations

from gonogo.engines.types import Engine
from gonogo.progress import Progress
from gonogo.releases.cached import rules, sweep
from gonogo.releases.environment import build
from gonogo.releases.pins import resolve_pinned
from gonogo.releases.python import ChildPython
from gonogo.releases.record import Record
from gonogo.releases.requirements import Resolution, resolve
from gonogo.releases.store import Store, write_record


def furnish(store: Store, adapter: Engine, key: str, record: Record, python: ChildPython, progress: Progress) -> None:
    """Give the release under ``key`` its environment. Call with the release's lock held.

    Raises OwnProblem where its packages cannot be had.
    """
    name = f"{adapter.name} {record.version}"
    progress.say(f"{name}: finding its packages")
    with store.lock("environments"):
        found = _resolved(store, adapter, record, python)
        progress.say(f"{name}: fetching {len(found.installed)} packages")
        environment = build(store, found.installed, python)
        with store.writing(name):
            write_record(
                store.release(adapter.name, key) / f"environment-{python.series}.json",
                {
                    "environment": environment,
                    "rules": rules(adapter),
                    "series": python.series,
                    "python": str(python.path),
                    "versions": found.versions,
                    "notes": found.notes,
                },
            )
            sweep(store)


def _resolved(store: Store, adapter: Engine, record: Record, python: ChildPython) -> Resolution:
    if record.installed is not None:
        return resolve_pinned(store, adapter, record.requirements, record.installed.beside, python)
    date = record.date if record.dated else None
    return resolve(store, adapter, record.requirements, date, python)
