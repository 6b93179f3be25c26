"""What is written of an unpacked release beside its tree, in ``record.json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from gonogo.releases.store import read_record, write_record
from gonogo.releases.types import Build

LAYOUT = 3


@dataclass(frozen=True)
class Record:
    """One unpacked release.

    ``content`` is a digest of its files. ``date`` is exact where it is ``dated``, else that of its newest file.
    ``requirements`` are Requires-Dist lines. ``notes`` are what a user should be told whenever it is used.
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

    def write(self, folder: Path) -> None:
        """Write it into the release's folder."""
        write_record(folder / "record.json", {**asdict(self), "layout": LAYOUT, "date": self.date.isoformat()})


def record_in(folder: Path) -> Record | None:
    """The record of the release in ``folder``; None where there is none, a damaged one, or that of another gonogo."""
    told = read_record(folder / "record.json")
    if told is None or told.pop("layout", None) != LAYOUT or not (folder / "tree").is_dir():
        return None
    try:
        build = told["build"]
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
        )
    except (KeyError, TypeError, ValueError):
        return None
