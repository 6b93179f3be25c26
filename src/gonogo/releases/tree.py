"""The tree of a release: of the files of an archive, a wheel or a folder those that start-up code can need. None is run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import BytesHeaderParser
from pathlib import Path, PurePosixPath
from typing import Literal

from gonogo.engines.types import Engine
from gonogo.problems import OwnProblem

Kind = Literal["sdist", "wheel"]

_COMPILED = {".so", ".pyd", ".dylib", ".dll", ".a", ".o"}
_LARGEST = 4 << 30  # bytes in all: far above any release, far below a disk


@dataclass(frozen=True)
class Member:
    """A regular file: ``name`` below what would be a site folder (a wheel) or the top folder (an sdist).

    ``time`` is in seconds since 1970, ``read`` gives up to so many bytes of its content. ``status`` is that of a file on disk.
    """

    name: PurePosixPath
    time: float
    executable: bool
    read: Callable[[int], bytes]
    status: os.stat_result | None = None

    @property
    def is_compiled(self) -> bool:
        """Whether it is machine code: such files are never loaded, and left empty in a tree."""
        return is_compiled(str(self.name)) or (self.executable and not self.name.suffix)


@dataclass(frozen=True)
class Metadata:
    """What a release says of itself; ``requirements`` are Requires-Dist lines, ``date`` is its newest file's time."""

    requires_python: str
    requirements: tuple[str, ...]
    date: datetime


def write_tree(
    engine: Engine,
    version: str,
    kind: Kind,
    members: Iterable[Member],
    tree: Path,
    source: str,
    like: Path | None = None,
) -> Metadata:
    """Write the engine's package and its metadata into the new folder ``tree``; ``source`` is what messages call it.

    Compiled files stand there empty, so that asking whether they exist gives the truth. Files that are the same in the
    tree ``like`` are links to those, with their bytecode. Raises OwnProblem for what is no release of the engine.
    """
    tree.mkdir()
    placed = ((_place(engine, version, kind, member.name), member) for member in members)
    newest = _write(((place, member) for place, member in placed if place is not None), tree, source, like)
    metadata = next((path for path in tree.glob("*.dist-info/METADATA")), None)
    if metadata is None or not (tree / engine.package).is_dir():
        raise OwnProblem(
            f"{source} holds no package {engine.package} with its metadata: not a release of {engine.name}"
        )
    return _declared(metadata, datetime.fromtimestamp(newest, UTC))


def add_members(members: Iterable[Member], tree: Path, source: str) -> None:
    """Write more files into a tree, each under its own name."""
    _write(((member.name, member) for member in members), tree, source)


def _write(placed: Iterable[tuple[PurePosixPath, Member]], tree: Path, source: str, like: Path | None = None) -> float:
    """Write files to their places below ``tree``; the time of the newest."""
    newest, written = 0.0, 0
    for place, member in placed:
        content = b"" if member.is_compiled else member.read(_LARGEST + 1 - written)
        written += len(content)
        if written > _LARGEST:
            raise OwnProblem(f"{source} unpacks to more than {_LARGEST >> 30} GiB: not using it")
        target = tree / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if like is None or not _linked(like / place, content, target):
            target.write_bytes(content)
        newest = max(newest, member.time)
    return newest


def _linked(source: Path, content: bytes, target: Path) -> bool:
    """Put a link to ``source`` at ``target`` if that is its content; its bytecode too, which then holds for both."""
    try:
        if source.read_bytes() != content:
            return False
        os.link(source, target)
        for bytecode in source.parent.glob(f"__pycache__/{source.stem}.*.pyc") if source.suffix == ".py" else ():
            link = target.parent / "__pycache__" / bytecode.name
            link.parent.mkdir(exist_ok=True)
            os.link(bytecode, link)
    except OSError:  # none there, or a file system without hard links
        return target.exists()
    return True


def names_in(tree: Path) -> frozenset[str]:
    """The files of a tree, bytecode left out."""
    return frozenset(
        path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.suffix != ".pyc" and not path.is_dir()
    )


def safe_name(name: str, source: str) -> PurePosixPath:
    """The name of a member as a path. Raises OwnProblem for one that would be written outside the tree."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise OwnProblem(
            f"{source} holds a file named {name!r} that would be written elsewhere: not using this archive"
        )
    return path


def _place(engine: Engine, version: str, kind: Kind, name: PurePosixPath) -> PurePosixPath | None:
    """Where a member goes; None for what start-up code cannot need: tests, docs, build files.

    An sdist's metadata goes where an installed package has it, with the entry points that name the engine's plugins.
    """
    top = name.parts[0]
    if top == engine.package:
        return name
    if kind == "wheel":
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


def is_compiled(name: str) -> bool:
    """Whether a file of that name is machine code."""
    return PurePosixPath(name).suffix in _COMPILED


def compiled_modules(names: Iterable[str]) -> tuple[str, ...]:
    """Import names of the compiled modules among files of a site folder (``vllm/_C.abi3.so`` is ``vllm._C``)."""
    found = set()
    for name in names:
        path = PurePosixPath(name)
        if path.suffix in (".so", ".pyd"):
            module = ".".join((*path.parts[:-1], path.name.partition(".")[0]))
            found |= {module} if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", module) else set()
    return tuple(sorted(found))


def topmost(chosen: Iterable[str], others: Set[str]) -> tuple[str, ...]:
    """The files ``chosen``, with a folder in place of files where none of the ``others`` stands in it."""
    kept = {str(folder) for name in others for folder in PurePosixPath(name).parents}
    found = set()
    for name in chosen:
        path = PurePosixPath(name)
        above = [folder for folder in reversed(path.parents) if str(folder) not in kept and folder.parts]
        found.add(str(above[0] if above else path))
    return tuple(sorted(found))
