"""Which releases of an engine there are: asked of the package index, remembered for an hour, longer without network."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from gonogo.problems import OwnProblem, UsageProblem
from gonogo.releases.settings import index_address, shown
from gonogo.releases.store import Store, read_record, write_record

if TYPE_CHECKING:
    import requests
    from pypi_simple import DistributionPackage, PyPISimple

FRESH_SECONDS = 3600
_TIMEOUT = (10, 60)  # seconds to connect, and between two pieces
_LAYOUT = 1


@dataclass(frozen=True)
class ArchiveFile:
    """One file of a release; ``size`` in bytes, ``uploaded`` an ISO 8601 time, None: the index does not tell.

    ``metadata_sha256`` is that of a wheel's METADATA.
    """

    filename: str
    url: str
    kind: str
    sha256: str | None
    size: int | None
    uploaded: str | None
    metadata_sha256: str | None = None


@dataclass(frozen=True)
class ReleaseInfo:
    """What the package index says of one release.

    ``date`` is when its first file was uploaded, None where the index does not tell. A ``prerelease`` (also a
    development release) or a ``yanked`` one is never the newest. ``files`` are its sdist and wheels.
    """

    engine: str
    version: str
    prerelease: bool
    yanked: bool
    requires_python: str
    date: datetime | None
    files: tuple[ArchiveFile, ...]


@dataclass(frozen=True)
class Listing:
    """All releases of an engine, newest first. ``note`` says what a user should know, as that it is an old listing."""

    releases: tuple[ReleaseInfo, ...]
    note: str | None = None


def listing(store: Store, engine: str, *, fresh: bool = False) -> Listing:
    """The releases of ``engine``; asks the index unless it did within the hour (``fresh``: always).

    Where the index cannot be reached the last listing serves, with a note. Raises OwnProblem where there is none.
    """
    path = store.listing(engine)
    address = index_address()
    asked_of = shown(address) if address else None
    remembered = _remembered(path, engine, asked_of)
    if remembered is not None and not fresh and 0 <= time.time() - remembered[0] < FRESH_SECONDS:
        return Listing(remembered[1])
    try:
        found = _ask(engine, address)
    except OwnProblem as problem:
        if remembered is None:
            raise
        asked = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(remembered[0]))
        return Listing(remembered[1], f"{problem}; using its listing of {asked}")
    with suppress(OSError):  # a full disk or a cache that can only be read loses the listing, not the answer
        write_record(
            path,
            {"layout": _LAYOUT, "asked": time.time(), "index": asked_of, "releases": [_plain(one) for one in found]},
        )
    return Listing(found)


def download(file: ArchiveFile, place: Path, say: Any) -> None:
    """Fetch ``file`` to ``place`` and check its sha256; ``say(done, total)`` is called with bytes as they come.

    Raises OwnProblem where the index cannot be reached, gives no sha256, or sends something else than it promised.
    """
    from pypi_simple import DigestMismatchError, DistributionPackage

    if not file.sha256:
        raise OwnProblem(
            f"the package index gives no sha256 for {file.filename}: not using a file that cannot be checked"
        )
    package = DistributionPackage(
        filename=file.filename,
        url=file.url,
        project=None,
        version=None,
        package_type=file.kind,
        digests={"sha256": file.sha256},
        requires_python=None,
        has_sig=None,
    )
    try:
        with _reached() as client:
            client.download_package(
                package, place, timeout=_TIMEOUT, progress=lambda total: _Tracker(total or file.size, say)
            )
    except DigestMismatchError:
        raise OwnProblem(
            f"{file.filename} is not what the package index promised (its sha256 differs): try again,"
            " and if it stays so, do not trust this index"
        ) from None


@contextmanager
def connection() -> Iterator[requests.Session]:
    """A connection for files of the index. What goes wrong on it within the block is raised as OwnProblem."""
    with _reached() as client:
        yield client.s


@contextmanager
def _reached() -> Iterator[PyPISimple]:
    import requests

    address = index_address()
    try:
        with _client(address) as client:
            yield client
    except requests.RequestException as error:
        raise _unreachable(address, error) from error


def upload_times(project: str) -> list[datetime]:
    """When the files of any ``project`` were uploaded; empty where the index has none, or does not tell of each.

    Raises OwnProblem where the index cannot be reached.
    """
    try:
        times = [package.upload_time for package in _page(project, index_address())]
    except NoSuchPackage:
        return []
    told = [time for time in times if time is not None]
    return told if len(told) == len(times) else []


def release_info(project: str, version: str) -> ReleaseInfo:
    """What the index has of one version of any ``project``. Raises OwnProblem where it cannot be reached or has none."""
    wanted = Version(version)
    found = [
        package
        for package in _page(project, index_address())
        if package.version is not None and _is_version(package.version, wanted)
    ]
    if not found:
        raise NoSuchPackage(f"the package index has no {project} {version}")
    return _info(project, wanted, found)


def _is_version(text: str, wanted: Version) -> bool:
    try:
        return Version(text) == wanted
    except InvalidVersion:
        return False


def version_on(store: Store, project: str, date: datetime) -> str | None:
    """The newest finished version of any ``project`` that was there on ``date``; None where there was none.

    Remembered without end: what there was on a day does not change. Raises OwnProblem where the index cannot be reached.
    """
    path = store.listing(f"{project}-{date:%Y-%m-%d}")
    remembered = read_record(path)
    if remembered is not None and "version" in remembered:
        return None if remembered["version"] is None else str(remembered["version"])
    try:
        releases = _ask(project, index_address())
    except NoSuchPackage:
        releases = ()
    final = (one for one in releases if not one.prerelease and not one.yanked)
    found = next((one.version for one in final if one.date is None or one.date <= date), None)
    with suppress(OSError):
        write_record(path, {"version": found})
    return found


class NoSuchPackage(OwnProblem):
    """The index has no project of that name."""


def _ask(engine: str, address: str | None) -> tuple[ReleaseInfo, ...]:
    return _releases(engine, _page(engine, address))


def _page(project: str, address: str | None) -> list[DistributionPackage]:
    import requests
    from pypi_simple import NoSuchProjectError
    from pypi_simple.errors import UnsupportedContentTypeError, UnsupportedRepoVersionError

    try:
        with _client(address) as client:
            return client.get_project_page(project, timeout=_TIMEOUT).packages
    except NoSuchProjectError:
        raise NoSuchPackage(
            f"the package index {_where(address)} has no {project}: check the index that pip or uv is set to"
        ) from None
    except requests.RequestException as error:
        raise _unreachable(address, error) from error
    except (UnsupportedContentTypeError, UnsupportedRepoVersionError, ValueError) as error:
        raise OwnProblem(
            f"the package index {_where(address)} answers in no form that gonogo reads ({error})"
        ) from error


def _client(address: str | None) -> PyPISimple:
    from pypi_simple import PyPISimple

    return PyPISimple() if address is None else PyPISimple(address)


def _where(address: str | None) -> str:
    return "that pip uses by default" if address is None else shown(address)


def _unreachable(address: str | None, error: Exception) -> OwnProblem:
    status = getattr(getattr(error, "response", None), "status_code", None)
    why = f"it answers with status {status}" if status else _reason(error)
    return OwnProblem(
        f"cannot reach the package index {_where(address)} ({why}):"
        " check the network, or the index that pip or uv is set to"
    )


def _reason(error: BaseException) -> str:
    """The innermost cause in words; the outer ones repeat it with addresses that may hold a password."""
    deepest: BaseException = error
    while (inner := deepest.__cause__ or deepest.__context__) is not None:
        deepest = inner
    text = getattr(deepest, "strerror", None) or type(deepest).__name__
    return str(text)


class _Tracker:
    """What pypi_simple asks of a progress display."""

    def __init__(self, total: int | None, say: Any) -> None:
        self._total, self._say, self._done = total, say, 0

    def __enter__(self) -> _Tracker:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, increment: int) -> None:
        self._done += increment
        self._say(self._done, self._total)


def _releases(engine: str, packages: Iterable[DistributionPackage]) -> tuple[ReleaseInfo, ...]:
    by_version: dict[Version, list[DistributionPackage]] = {}
    for package in packages:
        if package.package_type in ("sdist", "wheel") and package.version is not None:
            try:
                by_version.setdefault(Version(package.version), []).append(package)
            except InvalidVersion:
                continue
    return tuple(_info(engine, version, by_version[version]) for version in sorted(by_version, reverse=True))


def _info(engine: str, version: Version, packages: list[DistributionPackage]) -> ReleaseInfo:
    times = [package.upload_time for package in packages if package.upload_time is not None]
    return ReleaseInfo(
        engine=engine,
        version=str(version),
        prerelease=version.is_prerelease,
        yanked=all(package.is_yanked for package in packages),
        requires_python=next((package.requires_python for package in packages if package.requires_python), ""),
        date=min(times, default=None),
        files=tuple(
            ArchiveFile(
                filename=package.filename,
                url=package.url,
                kind=str(package.package_type),
                sha256=package.digests.get("sha256"),
                size=package.size,
                uploaded=package.upload_time.isoformat() if package.upload_time else None,
                metadata_sha256=(package.metadata_digests or {}).get("sha256"),
            )
            for package in packages
        ),
    )


def _plain(info: ReleaseInfo) -> dict[str, Any]:
    return asdict(info) | {"date": info.date.isoformat() if info.date else None}


def _remembered(path: Path, engine: str, asked_of: str | None) -> tuple[float, tuple[ReleaseInfo, ...]] | None:
    """When the index was asked last, and what it said; None where that is not known, or was another index."""
    record = read_record(path)
    if record is None or record.get("layout") != _LAYOUT or record.get("index") != asked_of:
        return None
    try:
        releases = tuple(
            ReleaseInfo(
                engine=engine,
                version=str(Version(one["version"])),
                prerelease=bool(one["prerelease"]),
                yanked=bool(one["yanked"]),
                requires_python=str(one["requires_python"]),
                date=datetime.fromisoformat(one["date"]) if one["date"] else None,
                files=tuple(ArchiveFile(**file) for file in one["files"]),
            )
            for one in record["releases"]
        )
        return float(record["asked"]), releases
    except (KeyError, TypeError, ValueError):
        return None


def close_versions(known: Iterable[str], wanted: str) -> list[str]:
    """Up to three of ``known`` (newest first) that somebody who wrote ``wanted`` may have meant, newest first."""
    import difflib

    versions = list(known)
    same_series = [one for one in versions if one.split(".")[:2] == wanted.split(".")[:2]]
    alike = difflib.get_close_matches(wanted, versions, n=3, cutoff=0.6)
    chosen = (same_series or alike)[:3] or versions[:3]
    return sorted(chosen, key=Version, reverse=True)


def no_such_release(engine: str, version: str, known: Iterable[str]) -> UsageProblem:
    """The problem to raise for a version that nobody released."""
    close = close_versions(known, version)
    hint = f"; there are {', '.join(close)}" if close else ""
    return UsageProblem(f"there is no release {engine} {version}{hint} (`gonogo releases` lists them)")
