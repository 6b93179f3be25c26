"""The cache folder's manners: locks, temporary folders, publishing by rename. Nothing half-written is ever seen.

Layout below the folder::

    listings/ENGINE.json            what the package index said last, and when
    releases/ENGINE-VERSION/        record.json, environment-*.json and tree/ (the folder that holds the package)
    environments/ID/                record.json and site/
    partial/                        what is being made; left over only by a process that was killed
    locks/
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gonogo.problems import OwnProblem

_DAY = 86400.0
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


class Store:
    """One cache folder. Several processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is made when the first thing is written into it."""
        self.folder = folder

    def listing(self, engine: str) -> Path:
        """The file of the index's last listing of ``engine``."""
        return self.folder / "listings" / f"{engine}.json"

    def release(self, engine: str, version: str) -> Path:
        """The folder of one release."""
        return self.folder / "releases" / f"{engine}-{version}"

    def releases(self) -> list[Path]:
        """The folders of all finished releases."""
        return _folders(self.folder / "releases")

    def environment(self, identity: str) -> Path:
        """The folder of one environment."""
        return self.folder / "environments" / identity

    def environments(self) -> list[Path]:
        """The folders of all finished environments."""
        return _folders(self.folder / "environments")

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Held by one process at a time; let go by the system when its holder dies."""
        from filelock import FileLock  # costs 30 ms, and a cached release needs none

        with self.writing("a lock"):
            locks = self.folder / "locks"
            locks.mkdir(parents=True, exist_ok=True)
            lock = FileLock(locks / f"{name}.lock")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def partial(self, name: str) -> Iterator[Path]:
        """An empty folder to make ``name`` in, gone afterwards; call with the lock of ``name`` held.

        What a killed process left of the same name is removed first, and whatever is older than a day.
        """
        with self.writing(name):
            top = self.folder / "partial"
            top.mkdir(parents=True, exist_ok=True)
            for left in top.iterdir():
                if left.name.startswith(f"{name}~") or _is_old(left):
                    shutil.rmtree(left, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=f"{name}~", dir=top))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(self, made: Path, place: Path) -> None:
        """Put the finished folder ``made`` at ``place``, in place of what may be there."""
        place.parent.mkdir(parents=True, exist_ok=True)
        made.chmod(0o755)
        self.discard(place)
        made.rename(place)

    def discard(self, place: Path) -> None:
        """Remove a folder so that nobody sees half of it."""
        if not place.exists():
            return
        top = self.folder / "partial"
        top.mkdir(parents=True, exist_ok=True)
        grave = Path(tempfile.mkdtemp(prefix="removed~", dir=top))
        place.rename(grave / place.name)
        shutil.rmtree(grave, ignore_errors=True)

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """Turn what the file system says while ``what`` is made into one clear line."""
        try:
            yield
        except OSError as error:
            raise OwnProblem(self._trouble(what, error)) from error

    def _trouble(self, what: str, error: OSError) -> str:
        if error.errno in _NO_SPACE:
            return (
                f"no space left for {what} in the cache {self.folder}: free some, or set GONOGO_CACHE to another folder"
            )
        why = error.strerror or error
        return (
            f"cannot write {what} in the cache {self.folder} ({why}): set GONOGO_CACHE to a folder that can be written"
        )


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _DAY
    except OSError:
        return False


def _folders(parent: Path) -> list[Path]:
    try:
        return sorted(path for path in parent.iterdir() if path.is_dir())
    except OSError:
        return []


def read_record(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; None where there is none, or one that cannot be read."""
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write ``record`` to ``path`` at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}~", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(record, file)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def files_on_disk(folder: Path) -> dict[tuple[int, int], int]:
    """Bytes on disk of all files and folders below ``folder``, by device and inode, so each once."""
    found: dict[tuple[int, int], int] = {}
    waiting = [str(folder)]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            found[status.st_dev, status.st_ino] = status.st_blocks * 512
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return found
