"""One archive of a release: which one, and of it unpacked what start-up code can need. Nothing in it is run."""

from __future__ import annotations

import gzip
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import BytesHeaderParser
from pathlib import Path, PurePosixPath
from typing import IO

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from gonogo.engines.types import Engine
from gonogo.problems import OwnProblem, ReleaseProblem
from gonogo.releases.index import ArchiveFile, ReleaseInfo

_COMPILED = {".so", ".pyd", ".dylib", ".dll", ".a", ".o"}
# The last three: an archive in which one name is both a file and a folder.
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, ValueError, NotImplementedError),
    *(IsADirectoryError, NotADirectoryError, FileExistsError),
)
_LARGEST = 4 << 30  # bytes unpacked: far above any release, far below a disk


@dataclass(frozen=True)
class Metadata:
    """What a release says of itself; ``requirements`` are Requires-Dist lines, ``date`` is its newest file's time."""

    requires_python: str
    requirements: tuple[str, ...]
    date: datetime


def chosen_file(engine: Engine, info: ReleaseInfo) -> ArchiveFile:
    """The file that holds the full source of a release: its sdist, or the wheel nearest to this Python on x86-64 Linux.

    Which wheel does not matter much, only its Python code is used. Raises ReleaseProblem where there is none.
    """
    fitting = [file for file in info.files if file.kind == engine.archive]
    if not fitting:
        raise ReleaseProblem(
            f"{info.engine} {info.version} has no {engine.archive} on the package index: gonogo cannot read it"
        )
    return min(fitting, key=_distance) if engine.archive == "wheel" else fitting[0]


def _distance(file: ArchiveFile) -> tuple[int, str]:
    try:
        tags = parse_wheel_filename(file.filename)[3]
    except InvalidWheelFilename:
        return (9, file.filename)
    ours = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return min(
        (4 * (tag.interpreter not in (ours, "py3")) + (not tag.platform.endswith(("x86_64", "any"))), file.filename)
        for tag in tags
    )


def unpack(engine: Engine, version: str, archive: Path, tree: Path) -> Metadata:
    """Unpack the engine's package and its metadata from ``archive`` into the new folder ``tree``.

    Compiled files are never loaded: they are left empty, so that asking whether they exist gives the truth. Links and
    special files are left out. Raises OwnProblem for an archive that is broken, or would write outside ``tree``.
    """
    tree.mkdir()
    with _reading(archive):
        members = _sdist_members(archive) if engine.archive == "sdist" else _wheel_members(archive)
        newest, written = 0.0, 0
        metadata: Path | None = None
        for member in members:
            place = _place(engine, version, member.name)
            if place is None:
                continue
            target = tree / place
            target.parent.mkdir(parents=True, exist_ok=True)
            content = b"" if target.suffix in _COMPILED else member.file.read(_LARGEST + 1 - written)
            written += len(content)
            if written > _LARGEST:
                raise OwnProblem(f"{archive.name} unpacks to more than {_LARGEST >> 30} GiB: not using it")
            target.write_bytes(content)
            newest = max(newest, member.time)
            if target.name == "METADATA" and target.parent.parent == tree:
                metadata = target
    if metadata is None or not (tree / engine.package).is_dir():
        raise OwnProblem(
            f"{archive.name} holds no package {engine.package} with its metadata: not a release of {engine.name}"
        )
    return _declared(metadata, datetime.fromtimestamp(newest, UTC))


@dataclass(frozen=True)
class _Member:
    """A regular file in an archive: ``name`` below what would be a site folder, ``time`` in seconds since 1970."""

    name: PurePosixPath
    time: float
    file: IO[bytes]


def _sdist_members(archive: Path) -> Iterator[_Member]:
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            path = _checked(member.name, archive)
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None and len(path.parts) > 1:
                yield _Member(path.relative_to(path.parts[0]), member.mtime, content)


def _wheel_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as wheel:
        for info in wheel.infolist():
            path = _checked(info.filename, archive)
            link = (info.external_attr >> 16) & 0o170000 == 0o120000
            if not info.is_dir() and not link:
                with wheel.open(info) as content:
                    yield _Member(path, _zip_time(info), content)


def _zip_time(info: zipfile.ZipInfo) -> float:
    try:
        return datetime(*info.date_time, tzinfo=UTC).timestamp()
    except ValueError:  # an archive made without a clock
        return 0.0


def _checked(name: str, archive: Path) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise OwnProblem(
            f"{archive.name} holds a file named {name!r} that would be written elsewhere: not using this archive"
        )
    return path


def _place(engine: Engine, version: str, name: PurePosixPath) -> PurePosixPath | None:
    """Where a member goes; None for what start-up code cannot need: tests, docs, build files.

    An sdist's metadata goes where an installed package has it, with the entry points that name the engine's plugins.
    """
    top = name.parts[0]
    if top == engine.package:
        return name
    if engine.archive == "wheel":
        return name if top.endswith(".dist-info") and len(name.parts) == 2 and name.name != "RECORD" else None
    installed = PurePosixPath(f"{engine.package}-{version}.dist-info")
    if name.parts == ("PKG-INFO",):
        return installed / "METADATA"
    if top.endswith(".egg-info") and name.name in ("entry_points.txt", "top_level.txt") and len(name.parts) == 2:
        return installed / name.name
    return None


def _declared(metadata: Path, date: datetime) -> Metadata:
    headers = BytesHeaderParser().parsebytes(metadata.read_bytes())
    return Metadata(
        requires_python=str(headers.get("Requires-Python", "")),
        requirements=tuple(str(value) for value in headers.get_all("Requires-Dist", [])),
        date=date,
    )


@contextmanager
def _reading(archive: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise OwnProblem(f"{archive.name} cannot be unpacked ({error}): the archive is broken, try again") from error
