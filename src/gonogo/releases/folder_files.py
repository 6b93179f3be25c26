"""The files of a folder that matter to a release: those of the engine's package, and those that tell of it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from gonogo.problems import OwnProblem
from gonogo.releases.folders import EngineFolder
from gonogo.releases.git import Commit
from gonogo.releases.tree import Member

_NOT_PACKED = {"__pycache__", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
_SETTLED = 2.0  # seconds after which a file that is written once more shows another time


def package_files(found: EngineFolder) -> Iterator[Member]:
    """The regular files of the package, folder by folder. Links, bytecode and caches are left out."""
    waiting = [PurePosixPath(found.engine.package)]
    while waiting:
        within = waiting.pop()
        with _reading(found.base / within):
            entries = sorted(os.scandir(found.base / within), key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _NOT_PACKED:
                    waiting.append(within / entry.name)
            elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".pyc"):
                with _reading(Path(entry.path)):
                    status = entry.stat(follow_symlinks=False)
                name = within / entry.name
                yield Member(name, status.st_mtime, bool(status.st_mode & 0o111), _reader(Path(entry.path)), status)


def telling_files(found: EngineFolder) -> Iterator[Member]:
    """The files that tell of the package what an installation or an sdist would."""
    names: list[str] = []
    if found.kind == "checkout":
        listed = [PurePosixPath(name) for name in found.engine.table.get("checkout", {}).get("requirements", [])]
        names += ["pyproject.toml", "setup.py", *(str(name.parent / "*.txt") for name in listed)]
    elif found.metadata is not None and found.metadata.is_dir():
        told = ("METADATA", "entry_points.txt", "top_level.txt", "RECORD")
        names += [f"{found.metadata.name}/{name}" for name in told]
    elif found.metadata is not None:
        names += [
            "PKG-INFO",
            *(f"{found.engine.package}.egg-info/{name}" for name in ("entry_points.txt", "top_level.txt")),
        ]
    for name in dict.fromkeys(names):
        for path in sorted(found.base.glob(name)):
            if path.is_file() and not path.is_symlink():
                status = path.stat()
                within = PurePosixPath(path.relative_to(found.base).as_posix())
                yield Member(within, status.st_mtime, False, _reader(path), status)


def text_member(name: str, text: str) -> Member:
    """A file that is nowhere, with this text."""
    return Member(PurePosixPath(name), 0.0, False, lambda size: text.encode()[:size])


def signature(found: EngineFolder, commit: Commit | None) -> str | None:
    """Changes when any of these files does, by sizes and times; None while they are too young for that to show."""
    digest, newest = hashlib.sha256(), 0.0
    for members in (package_files(found), telling_files(found)):
        for member in members:
            status = member.status
            assert status is not None
            told = [str(member.name), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
            digest.update(json.dumps(told).encode())
            newest = max(newest, status.st_ctime)
    beside = sorted(place.name for place in found.site.glob("*.dist-info")) if found.site is not None else None
    digest.update(json.dumps([found.kind, commit.sha if commit else None, beside]).encode())
    return digest.hexdigest() if time.time() - newest > _SETTLED else None


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what the file system says of the folder into one clear line."""
    try:
        yield
    except OSError as error:
        raise OwnProblem(f"cannot read {path} ({error.strerror or error})") from error


def _reader(path: Path) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        # neither through a link nor waiting for ever, should it have become something else in the meantime
        with _reading(path):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(handle, "rb") as file:
                return file.read(size)

    return read
