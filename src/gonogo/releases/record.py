"""What is written of an unpacked release beside its tree, in ``record.json``."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gonogo.releases.store import read_record, write_record
from gonogo.releases.types import Beside, Build, Installed

LAYOUT = 4


@dataclass(frozen=True)
class Record:
    """One unpacked release.

    ``content`` is a digest of its files. ``date`` is exact where it is ``dated``, else that of its newest file.
    ``requirements`` are Requires-Dist lines. ``notes`` are what a user should be told whenever it is used. ``folder`` is
    where it was taken from, None: the package index. For the rest see Release.
    """

    engine: str
    version: str
    content: str
    date: datetime
    dated: bool
    requires_python: str
    requirements: tuple[str, ...]
    build: Build | None = None
    notes: tuple[str, ...] = ()
    folder: str | None = None
    published: bool = True
    installed: Installed | None = None

    def write(self, folder: Path) -> None:
        """Write it into the release's folder."""
        write_record(folder / "record.json", {**asdict(self), "layout": LAYOUT, "date": self.date.isoformat()})


def record_in(folder: Path) -> Record | None:
    """The record of the release in ``folder``; None where there is none, a damaged one, or that of another gonogo."""
    told = read_record(folder / "record.json")
    if told is None or told.pop("layout", None) != LAYOUT or not (folder / "tree").is_dir():
        return None
    try:
        build, installed, folder = told["build"], told["installed"], told["folder"]
        texts = {key: told[key] for key in ("engine", "version", "content", "requires_python")}
        if not all(isinstance(value, str) for value in texts.values()) or not isinstance(told["requirements"], list):
            return None
        return Record(
            **texts,
            date=datetime.fromisoformat(told["date"]),
            dated=bool(told["dated"]),
            requirements=tuple(map(str, told["requirements"])),
            build=None if build is None else Build(build["vendor"], tuple(build["compiled"]), tuple(build["only"])),
            notes=tuple(map(str, told["notes"])),
            folder=None if folder is None else str(folder),
            published=bool(told["published"]),
            installed=None if installed is None else Installed(installed["vendor"], _beside(installed["beside"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _beside(told: dict[str, Any]) -> dict[str, Beside]:
    return {
        name: Beside(one["version"], tuple(one["imports"]), tuple(one["needs"]), one["elsewhere"])
        for name, one in told.items()
    }


def touch(folder: Path) -> None:
    """Note that the release in ``folder`` is used now."""
    with suppress(OSError):
        os.utime(folder / "record.json")
