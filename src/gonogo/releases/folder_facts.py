"""What is known of an engine in a folder: what it declares, whose build it is, whether it is as it was published."""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from gonogo.engines.types import Engine
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.releases.checkout import declared_in
from gonogo.releases.folder_files import package_files, telling_files, text_member
from gonogo.releases.folders import EngineFolder, headers_of
from gonogo.releases.git import Commit
from gonogo.releases.installed import beside, series_of, vendor_of
from gonogo.releases.python import python_for
from gonogo.releases.tree import Kind, Member, compiled_modules, is_compiled, names_in, topmost
from gonogo.releases.types import Build, Installed

_UNKNOWN = "0+unknown"


@dataclass(frozen=True)
class FolderFacts:
    """``members`` are the files of a release as a wheel or an sdist would hold them (``kind``)."""

    version: str
    kind: Kind
    members: Iterable[Member]
    notes: tuple[str, ...] = ()


def facts_of(found: EngineFolder, commit: Commit | None) -> FolderFacts:
    """The version of what is in the folder, and its files; ``commit`` is the one that a checkout has checked out.

    Raises OwnProblem for metadata that name no version.
    """
    if found.metadata is not None:
        told = headers_of(found.metadata).get("Version", [_UNKNOWN])[0]
        kind: Kind = "wheel" if found.metadata.is_dir() else "sdist"
        try:
            version = str(Version(told))
        except InvalidVersion:
            raise OwnProblem(f"{found.metadata} names no version but {told[:80]!r}: not using it") from None
        return FolderFacts(version, kind, _both(package_files(found), telling_files(found)))
    declared = declared_in(found.engine, found.base, commit)
    package = found.engine.package
    written = [
        text_member("PKG-INFO", declared.metadata(found.engine)),
        text_member(f"{package}.egg-info/entry_points.txt", declared.entry_points_text()),
    ]
    if (text := declared.version_file(found.base / package)) is not None:
        written.append(text_member(f"{package}/_version.py", text))
    return FolderFacts(declared.version, "sdist", _both(package_files(found), written), declared.notes)


def _both(first: Iterable[Member], then: Iterable[Member]) -> Iterator[Member]:
    yield from first
    yield from then


def is_published(found: EngineFolder, version: str, tree: Path, commit: Commit | None) -> bool:
    """Whether ``tree`` holds what was published under this version: by the RECORD of an installation, or by git's hashes."""
    if found.kind == "checkout":
        return (
            commit is not None
            and commit.since == 0
            and _is_version(commit.tag, version)
            and _as_in(commit, found, tree)
        )
    if found.metadata is None or not found.metadata.is_dir():
        return False
    try:
        with (found.metadata / "RECORD").open(newline="") as record:
            rows = [
                row for row in csv.reader(record) if len(row) == 3 and row[0].startswith(f"{found.engine.package}/")
            ]
    except (OSError, csv.Error, UnicodeDecodeError):
        return False
    told = {name: digest for name, digest, _ in rows if digest.startswith("sha256=") and not name.endswith(".pyc")}
    return bool(told) and all(
        is_compiled(name) or _digest(tree / name, "sha256") == digest.removeprefix("sha256=") or _is_empty(tree / name)
        for name, digest in told.items()
    )


def _is_empty(path: Path) -> bool:
    """A program without a suffix is machine code too."""
    return not path.suffix and path.is_file() and path.stat().st_size == 0


def _digest(path: Path, kind: str) -> str | None:
    try:
        return base64.urlsafe_b64encode(hashlib.new(kind, path.read_bytes()).digest()).rstrip(b"=").decode()
    except OSError:
        return None


def _is_version(tag: str | None, version: str) -> bool:
    return tag is not None and tag.removeprefix("v") == version


def _as_in(commit: Commit, found: EngineFolder, tree: Path) -> bool:
    """Whether all files of the package are as the commit has them."""
    within = found.base.relative_to(found.top)
    prefix = "" if within == Path() else f"{within.as_posix()}/"
    blobs = commit.files(f"{prefix}{found.engine.package}")
    for name, told in blobs.items():
        path = tree / name.removeprefix(prefix)
        if is_compiled(name) or _is_empty(path):
            continue
        try:
            content = path.read_bytes()
        except OSError:
            return False
        kind = hashlib.sha1 if len(told) == 40 else hashlib.sha256
        if kind(b"blob %d\0" % len(content) + content).hexdigest() != told:
            return False
    return bool(blobs)


def build_in(engine: Engine, tree: Path, vendor: str | None) -> Build | None:
    """The build that compiled modules in the tree show it to be, for hardware of ``vendor``; None for a source."""
    names = names_in(tree)
    compiled = frozenset(name for name in names if is_compiled(name))
    if not compiled:
        return None
    if engine.wheel_of is None:
        return Build(None, compiled_modules(compiled))
    return Build(vendor or engine.wheel_of, compiled_modules(compiled), topmost(compiled, names - compiled))


def installed_of(found: EngineFolder, version: str) -> Installed | None:
    """What stands beside an installed engine; None for one that is not installed."""
    if found.site is None:
        return None
    there = beside(found.site)
    return Installed(vendor_of(found.engine, version, there), there)


def python_of(found: EngineFolder, declared: str, release: str) -> tuple[str, str | None]:
    """Which Python a release may run on, and what to say of it: the one that it is installed for, if that is here."""
    series = series_of(found.site) if found.site is not None else None
    if series is None:
        return declared, None
    try:
        python_for(f"=={series}.*", release)
    except UsageProblem:
        return declared, f"it is installed for Python {series}, which is not here: another one runs it"
    return f"=={series}.*", None
