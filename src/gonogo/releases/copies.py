"""Engines taken out of folders into the cache, each a release of its own: what an archive's unpacking keeps, and no more.

A copy is named after its content, so that a changed folder is another release. Copies of a folder share the files that are
the same, and old ones go.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from gonogo.releases.cached import MARK
from gonogo.releases.folder_facts import build_in, facts_of, installed_of, is_published, python_of
from gonogo.releases.folder_files import signature
from gonogo.releases.folders import EngineFolder
from gonogo.releases.git import Commit, head_of
from gonogo.releases.record import Record, record_in
from gonogo.releases.store import Store, read_record, write_record
from gonogo.releases.tree import names_in, write_tree
from gonogo.releases.types import Build

_EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)  # before any engine: files out of an archive made without a clock
_KEPT = 3  # copies of one folder
_IN_USE, _LONG = 3600.0, 30 * 86400.0  # seconds: a dry run may still be at it; nobody comes back for it


class Index(Protocol):
    """What the package index knows that a folder does not."""

    def date_of(self, engine: str, version: str) -> datetime | None:
        """When a version was published; None: it was not, or nobody can be asked."""

    def build_near(
        self, found: EngineFolder, version: str, commit: Commit | None, date: datetime, tree: Path
    ) -> tuple[Build | None, str | None]:
        """Add to ``tree`` what only the build of the nearest release has; what that is, and what to say of it."""


def copy_of(store: Store, found: EngineFolder, index: Index) -> str:
    """The key under which the store holds what is in the folder now; it is copied first if need be.

    Raises OwnProblem for a folder that cannot be read as a release.
    """
    commit = head_of(found.top) if found.kind == "checkout" else None
    return _known(store, found, commit) or _copied(store, found, commit, index)


def _known(store: Store, found: EngineFolder, commit: Commit | None) -> str | None:
    """The key of the copy that was made of this folder, if nothing has changed in it since."""
    note = read_record(_note_of(store, found)) or {}
    key = note.get("key")
    if not isinstance(key, str) or note.get("signature") is None:
        return None
    if record_in(store.release(found.engine.name, key)) is None or note["signature"] != signature(found, commit):
        return None
    return key


def _note_of(store: Store, found: EngineFolder) -> Path:
    name = hashlib.sha256(f"{found.engine.name} {found.base} {found.site}".encode()).hexdigest()[:16]
    return store.folder / "folders" / f"{name}.json"


def _copied(store: Store, found: EngineFolder, commit: Commit | None, index: Index) -> str:
    engine, note = found.engine, _note_of(store, found)
    what = f"the copy of {found.base}"
    with store.lock(f"{engine.name}-folders"), store.partial(f"{engine.name}-folder") as workspace, store.writing(what):
        before = read_record(note) or {}
        last = store.release(engine.name, str(before["key"])) if "key" in before else None
        made = workspace / "made"
        made.mkdir()
        now = signature(found, commit)
        record = _record(found, commit, made / "tree", last / "tree" if last else None, index)
        told = {**asdict(record), "date": str(commit.date) if commit else None, "folder": None}
        record = replace(record, content=_digest(told))
        key = f"{record.version}{MARK}{record.content}"
        place = store.release(engine.name, key)
        record.write(made)
        if record_in(place) is not None:
            record.write(place)  # it may have been taken from another folder
        else:
            _keep_environments(last, record, made)
            store.publish(made, place)
        write_record(note, {"folder": record.folder, "key": key, "signature": now})
        prune(store)
    return key


def _record(found: EngineFolder, commit: Commit | None, tree: Path, like: Path | None, index: Index) -> Record:
    """Write the tree, and tell of it; its ``content`` is that of the files only."""
    engine, facts = found.engine, facts_of(found, commit)
    version, notes = facts.version, list(facts.notes)
    declared = write_tree(engine, version, facts.kind, facts.members, tree, str(found.base), like)
    as_published = is_published(found, version, tree, commit)
    content = _digest({name: hashlib.sha256((tree / name).read_bytes()).hexdigest() for name in sorted(names_in(tree))})
    installed = installed_of(found, version)
    date = commit.date if commit else index.date_of(engine.name, version) or declared.date
    build = build_in(engine, tree, installed.vendor if installed else None)
    if build is None and engine.wheel_of is not None:
        build, note = index.build_near(found, version, commit, date, tree)
        notes += [note] if note else []
    requires_python, note = python_of(found, declared.requires_python, f"{engine.name} {version}")
    notes += [note] if note else []
    return Record(
        engine=engine.name,
        version=version,
        content=content,
        date=date,
        dated=date > _EARLIEST,
        requires_python=requires_python,
        requirements=declared.requirements,
        build=build,
        notes=tuple(f"{engine.name} {version}: {note}" for note in notes),
        folder=str(found.site or found.base),
        published=as_published,
        installed=installed,
    )


def _keep_environments(last: Path | None, record: Record, made: Path) -> None:
    """Packages that were found for the last copy hold for the next one, if it asks for the same."""
    before = record_in(last) if last is not None else None
    if before is None or last is None:
        return
    fields = ("requirements", "requires_python", "installed", "date")
    if all(getattr(before, field) == getattr(record, field) for field in fields):
        for path in last.glob("environment-*.json"):
            shutil.copyfile(path, made / path.name)


def prune(store: Store) -> None:
    """Remove copies that nobody comes back for: all but the last few of a folder, and those of folders that are gone."""
    copies: dict[str, list[tuple[float, Path]]] = {}
    for place in store.releases():
        record = record_in(place) if MARK in place.name else None
        if record is not None and record.folder is not None:
            unused = time.time() - (place / "record.json").stat().st_mtime
            copies.setdefault(f"{record.engine} {record.folder}", []).append((unused, place))
    for rows in copies.values():
        for rank, (unused, place) in enumerate(sorted(rows)):
            record = record_in(place)
            gone = record is not None and not Path(str(record.folder)).exists()
            if unused > _LONG or (unused > _IN_USE and (gone or rank >= _KEPT)):
                store.discard(place)


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]
