"""An engine that is installed: where that is, and what stands beside it in its environment. Only metadata is read."""

from __future__ import annotations

import csv
import importlib.metadata
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from gonogo.engines.types import Engine
from gonogo.releases.folders import EngineFolder, find_engine, headers_of, installed_in
from gonogo.releases.types import Beside

#: What the local part of a version begins with, in builds for other vendors than NVIDIA.
_LABELS = {"cpu": "cpu", "rocm": "amd", "xpu": "intel"}
#: Distributions whose build tells for which vendor the whole environment was made, after the engine itself.
_TELLING = ("torch",)


def active_engine(engine: Engine, environ: Mapping[str, str] | None = None) -> EngineFolder | None:
    """The engine in the active virtual environment, else in the Python that runs gonogo; None where it is in neither."""
    variables = os.environ if environ is None else environ
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = Path(variables.get(name) or os.devnull)
        if folder.is_dir() and (found := find_engine(folder.resolve(), engine)) is not None and found.site is not None:
            return found
    try:
        site = Path(str(importlib.metadata.distribution(engine.name).locate_file("")))
    except importlib.metadata.PackageNotFoundError:
        return None
    return installed_in(site.resolve(), engine)


def beside(site: Path) -> dict[str, Beside]:
    """All distributions in a site folder, by normalised name."""
    found: dict[str, Beside] = {}
    for place in sorted(site.glob("*.dist-info")):
        headers = headers_of(place)
        try:
            version = str(Version(headers["Version"][0]))
            name = canonicalize_name(headers["Name"][0])
        except (KeyError, IndexError, InvalidVersion):
            continue
        elsewhere = (place / "direct_url.json").exists() or bool(Version(version).local)
        found[name] = Beside(version, _imports(place), tuple(_needs(headers.get("Requires-Dist", []))), elsewhere)
    return found


def _needs(lines: Iterable[str]) -> list[str]:
    """Names of what a distribution asks for, under any condition: what is not there was not needed."""
    found = []
    for line in lines:
        try:
            found.append(canonicalize_name(Requirement(line).name))
        except InvalidRequirement:
            continue
    return sorted(set(found))


def _imports(place: Path) -> tuple[str, ...]:
    """Import names, by the files that a distribution put into its site folder."""
    names = set()
    try:
        with (place / "RECORD").open(newline="") as record:
            files = [PurePosixPath(row[0]) for row in csv.reader(record) if row]
    except (OSError, csv.Error, UnicodeDecodeError):
        files = []
    for file in files:
        top = file.parts[0] if file.parts else ""
        if len(file.parts) == 1:
            names |= {top.partition(".")[0]} if file.suffix in (".py", ".so", ".pyd") else set()
        elif file.suffix in (".py", ".so", ".pyd"):
            names.add(top)
    return tuple(sorted(name for name in names if name.isidentifier()))


def vendor_of(engine: Engine, version: str, there: Mapping[str, Beside]) -> str:
    """The vendor whose hardware an environment was made for, by what the versions of its builds end in."""
    told = [version, *(there[name].version for name in (engine.name, *_TELLING) if name in there)]
    for one in told:
        label = one.partition("+")[2]
        for beginning, vendor in _LABELS.items():
            if label.startswith(beginning):
                return vendor
    return "nvidia"


def series_of(site: Path) -> str | None:
    """The Python that a site folder belongs to (``3.12``), by the name of the folder that it stands in."""
    name = site.parent.name.removeprefix("python")
    return name if name.replace(".", "").isdigit() and "." in name else None
