"""Fetch a release from the package index: its source, and of NVIDIA's wheel what the source lacks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path, PurePosixPath

from gonogo.engines.types import Engine
from gonogo.progress import Progress
from gonogo.releases.archive import chosen_file, nearest_wheel, unpack
from gonogo.releases.index import ArchiveFile, ReleaseInfo, download
from gonogo.releases.ranges import NoRanges
from gonogo.releases.record import Record
from gonogo.releases.remote_wheel import RemoteWheel, remote_wheel
from gonogo.releases.tree import Metadata, add_members, compiled_modules, is_compiled, names_in, topmost, write_tree
from gonogo.releases.types import Build

_Say = Callable[[int, int | None], None]


def fetch(engine: Engine, info: ReleaseInfo, workspace: Path, made: Path, progress: Progress) -> None:
    """Make the new folder ``made`` with the tree and the record of a release, by way of ``workspace``.

    Raises ReleaseProblem for one that has nothing to read, OwnProblem where it cannot be fetched.
    """
    name = f"{engine.name} {info.version}"

    def say(done: int, total: int | None) -> None:
        progress.say(f"{name}: {_megabytes(done, total)}")

    progress.say(f"{name}: fetching")
    made.mkdir()
    file, tree = chosen_file(engine, info), made / "tree"
    of_wheel = engine.archive == "sdist"  # the wheel is a build, and the source is elsewhere
    notes: tuple[str, ...] = ()
    if file.kind == "wheel" and of_wheel:
        declared, content = _from_wheel(engine, info, file, workspace, tree, say)
    else:
        declared, content = _whole(engine, info, file, workspace, tree, say)
    build = _build_in(engine, tree)
    wheel = nearest_wheel(info) if of_wheel and file.kind == "sdist" else None
    if wheel is not None:
        try:
            progress.say(f"{name}: fetching what only its wheel has")
            with remote_wheel(wheel, say) as remote:
                build = _complete(engine, remote, tree)
                content = _digest([content, remote.digest])
        except NoRanges:
            notes = (
                f"{name}: the package index gives no parts of a wheel, so files that only the wheel has are missing",
            )
    uploaded = datetime.fromisoformat(file.uploaded) if file.uploaded else None
    Record(
        engine=engine.name,
        version=info.version,
        content=content,
        date=uploaded or declared.date,
        dated=uploaded is not None,
        requires_python=declared.requires_python or info.requires_python,
        requirements=declared.requirements,
        build=build,
        notes=notes,
    ).write(made)


def _whole(
    engine: Engine, info: ReleaseInfo, file: ArchiveFile, workspace: Path, tree: Path, say: _Say
) -> tuple[Metadata, str]:
    archive = workspace / PurePosixPath(file.filename).name
    download(file, archive, say)
    try:
        return unpack(engine, info.version, archive, tree), str(file.sha256)
    finally:
        archive.unlink()


def _from_wheel(
    engine: Engine, info: ReleaseInfo, file: ArchiveFile, workspace: Path, tree: Path, say: _Say
) -> tuple[Metadata, str]:
    """A release that has only a wheel: what start-up code can need of it, or all where the index gives no parts."""
    try:
        with remote_wheel(file, say) as remote:
            members = remote.members(remote.names)
            return write_tree(engine, info.version, "wheel", members, tree, file.filename), remote.digest
    except NoRanges:
        return _whole(engine, info, file, workspace, tree, say)


def _complete(engine: Engine, remote: RemoteWheel, tree: Path) -> Build:
    """Add to ``tree`` what only the wheel has of the engine's package; what that is.

    Files that are another text in the wheel are taken from there: the wheel is what runs, and a source archive may hold
    remains of an older build.
    """
    there = names_in(tree)
    own = {name for name in remote.names if name.startswith(f"{engine.package}/")}
    lacking = own - there
    other = {name for name in own & there if not is_compiled(name) and not remote.has_as(name, tree / name)}
    add_members(remote.members(lacking | other), tree, "the wheel")
    return Build(engine.wheel_of, compiled_modules(lacking), topmost(lacking, there))


def _build_in(engine: Engine, tree: Path) -> Build | None:
    """What compiled modules in the tree tell of the build that it is; None for a source."""
    names = names_in(tree)
    compiled = frozenset(name for name in names if is_compiled(name))
    if not compiled:
        return None
    only = topmost(compiled, names - compiled) if engine.wheel_of else ()
    return Build(engine.wheel_of, compiled_modules(compiled), only)


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _megabytes(done: int, total: int | None) -> str:
    return f"{done / 1e6:.0f} MB" if total is None else f"{done / 1e6:.0f} of {total / 1e6:.0f} MB"
