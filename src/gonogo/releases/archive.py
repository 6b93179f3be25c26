"""One archive of a release: which one, and of it unpacked what start-up code can need. Nothing in it is run."""

from __future__ import annotations

import gzip
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from gonogo.engines.types import Engine
from gonogo.problems import OwnProblem, ReleaseProblem
from gonogo.releases.index import ArchiveFile, ReleaseInfo
from gonogo.releases.tree import Member, Metadata, safe_name, write_tree

# RuntimeError: encrypted, or packed in a way that zipfile does not know. The last three: one name is both a file and a folder.
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, ValueError, RuntimeError),
    *(IsADirectoryError, NotADirectoryError, FileExistsError),
)


def chosen_file(engine: Engine, info: ReleaseInfo) -> ArchiveFile:
    """The file that holds the full source of a release: an sdist or a wheel, what the engine's table says if there is one.

    Raises ReleaseProblem where there is none.
    """
    sdist = next((file for file in info.files if file.kind == "sdist"), None)
    wheel = nearest_wheel(info)
    found = (sdist or wheel) if engine.archive == "sdist" else (wheel or sdist)
    if found is None:
        raise ReleaseProblem(f"{info.engine} {info.version} has no file on the package index: gonogo cannot read it")
    return found


def nearest_wheel(info: ReleaseInfo) -> ArchiveFile | None:
    """The wheel nearest to this Python on x86-64 Linux. Which one does not matter much: only its Python code is used."""
    return min((file for file in info.files if file.kind == "wheel"), key=_distance, default=None)


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

    Links and special files are left out. Raises OwnProblem for an archive that is broken, or would write outside
    ``tree``.
    """
    with reading(archive.name):
        if archive.suffix == ".whl":
            return write_tree(engine, version, "wheel", _wheel_members(archive), tree, archive.name)
        return write_tree(engine, version, "sdist", _sdist_members(archive), tree, archive.name)


def _sdist_members(archive: Path) -> Iterator[Member]:
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            path = safe_name(member.name, archive.name)
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None and len(path.parts) > 1:
                within = path.relative_to(path.parts[0])
                yield Member(within, member.mtime, bool(member.mode & 0o111), content.read)


def _wheel_members(archive: Path) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as wheel:
        for info in wheel.infolist():
            if (member := member_of(wheel, info, archive.name)) is not None:
                yield member


def member_of(wheel: zipfile.ZipFile, info: zipfile.ZipInfo, source: str) -> Member | None:
    """A file in a wheel; None for what is no regular file."""
    path = safe_name(info.filename, source)
    mode = info.external_attr >> 16
    if info.is_dir() or mode & 0o170000 == 0o120000:
        return None

    def read(size: int) -> bytes:
        with wheel.open(info) as content:
            return content.read(size)

    return Member(path, _zip_time(info), bool(mode & 0o111), read)


def _zip_time(info: zipfile.ZipInfo) -> float:
    try:
        return datetime(*info.date_time, tzinfo=UTC).timestamp()
    except ValueError:  # an archive made without a clock
        return 0.0


@contextmanager
def reading(archive: str) -> Iterator[None]:
    """Turn what a broken archive makes of its reader into one clear line."""
    try:
        yield
    except _BROKEN as error:
        raise OwnProblem(f"{archive} cannot be unpacked ({error}): the archive is broken, try again") from error
