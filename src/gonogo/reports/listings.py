"""What ``gonogo releases`` and ``gonogo gpus`` print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gonogo.releases import Releases
    from gonogo.releases.types import CachedRelease

_MB = 1e6


def list_gpus(names: Sequence[str], form: str) -> str:
    """A line for every known GPU; those named with the source of each fact. Raises UsageProblem for an unknown one."""
    from gonogo.hardware.catalog import find_gpu
    from gonogo.hardware.listing import gpu_rows

    rows = gpu_rows()
    if names:
        wanted = {find_gpu(name).gpu.name for name in names}
        rows = tuple(row for row in rows if row.name in wanted)
    if form == "json":
        return _document("gonogo.gpus/1", gpus=[asdict(row) for row in rows])
    lines = []
    for row in rows:
        memory = f"{row.memory_gib:.0f} GiB" if row.memory_gib else ""
        lines.append(f"{row.name:20} {row.vendor:7} {memory:>8}  {row.capability:8} {', '.join(row.aliases)}".rstrip())
        lines += [f"    {fact}: {source}" for fact, source in sorted(row.sources.items()) if names]
    return _text(lines)


def list_cached(releases: Releases, form: str) -> str:
    """The releases in the cache with their sizes, by engine, the newest first."""
    from packaging.version import Version

    rows = sorted(releases.cached(), key=lambda row: (Version(row.version), row.folder is None), reverse=True)
    rows.sort(key=lambda row: row.engine)
    if form == "json":
        return _document("gonogo.releases/1", cached=[_cached(row) for row in rows])
    lines = []
    for row in rows:
        note = f"  ({row.own / _MB:.0f} MB shared with no other)" if row.own < row.size else ""
        note = note if row.has_packages else "  (its packages are still to be fetched)"
        note += f"  from {row.folder}" if row.folder is not None else ""
        name = f"{row.engine} {row.version}"
        lines.append(f"{name:20} {row.date:%Y-%m-%d}  {row.size / _MB:5.0f} MB{note}")
    return _text(lines or ["no release in the cache: fetch one with gonogo releases fetch ENGINE==VERSION"])


def list_known(engine: str, releases: Releases, form: str) -> str:
    """The releases that the package index has, the newest first."""
    rows = releases.known(engine)
    if form == "json":
        told = [
            {
                "version": row.version,
                "date": row.date.isoformat() if row.date else None,
                "prerelease": row.prerelease,
                "yanked": row.yanked,
            }
            for row in rows
        ]
        return _document("gonogo.releases/1", engine=engine, known=told)
    lines = []
    for row in rows:
        marks = ", ".join(word for word, on in (("pre-release", row.prerelease), ("yanked", row.yanked)) if on)
        name, date = f"{engine} {row.version}", f"{row.date:%Y-%m-%d}" if row.date else ""
        lines.append(f"{name:20} {date:10}  {marks}".rstrip())
    return _text(lines)


def list_done(word: str, done: Iterable[tuple[str, str]], form: str) -> str:
    """What was ``fetched`` or ``removed``: engines and versions."""
    if form == "json":
        rows = [{"engine": engine, "version": version} for engine, version in done]
        return _document("gonogo.releases/1", **{word: rows})
    return _text([f"{word} {engine} {version}" for engine, version in done])


def _cached(row: CachedRelease) -> dict[str, Any]:
    return {
        "engine": row.engine,
        "version": row.version,
        "date": row.date.isoformat(),
        "bytes": row.size,
        "own_bytes": row.own,
        "has_packages": row.has_packages,
        "folder": row.folder,
    }


def _document(schema: str, **content: Any) -> str:
    return json.dumps({"schema": schema, **content}, indent=1) + "\n"


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
