"""The sdist of a release, unpacked: its documents, examples, recipes and tests, which a dry run never needs."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

from gonogo.places import cache_folder
from gonogo.problems import OwnProblem
from gonogo.releases.index import ArchiveFile, download, listing
from gonogo.releases.store import Store

FOLDERS = ("docs", "examples", "recipes", "tests")
_MOST_BYTES = 4 << 20  # a file of text somebody wrote is smaller


def sdist(engine: str, version: str) -> Path:
    """The folder with ``docs/``, ``examples/`` ... of the release, fetched (sha256 checked) the first time.

    Only regular files of a few megabytes are unpacked, and nothing in them is ever run. Raises OwnProblem where the
    index has no such sdist.
    """
    store = Store(cache_folder())
    place = store.folder / "sdists" / f"{engine}-{version}"
    with store.lock(f"sdist-{engine}-{version}"):
        if not place.is_dir():
            file = _file(store, engine, version)
            with store.partial(f"sdist-{engine}-{version}") as workspace:
                archive = workspace / PurePosixPath(file.filename).name
                download(file, archive, lambda _done, _total: None)
                made = workspace / "made"
                made.mkdir()
                _unpack(archive, made)
                store.publish(made, place)
    return place


def _file(store: Store, engine: str, version: str) -> ArchiveFile:
    for info in listing(store, engine).releases:
        for file in info.files:
            if info.version == version and file.kind == "sdist":
                return file
    raise OwnProblem(f"the package index has no sdist of {engine} {version}")


def _unpack(archive: Path, place: Path) -> None:
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            parts = PurePosixPath(member.name).parts[1:]
            if not member.isreg() or member.size > _MOST_BYTES or not parts or parts[0] not in FOLDERS:
                continue
            target = place.joinpath(*parts)
            content = tar.extractfile(member)
            if ".." in parts or content is None:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
