"""What the package index knows of an engine that was found in a folder: its date, and the build that is nearest to it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from gonogo.problems import OwnProblem
from gonogo.releases.folders import EngineFolder
from gonogo.releases.git import Commit
from gonogo.releases.index import ReleaseInfo
from gonogo.releases.record import record_in
from gonogo.releases.tree import compiled_modules, names_in, topmost
from gonogo.releases.types import Build

if TYPE_CHECKING:
    from gonogo.releases.release import Releases

_FIRST = Version("0.1")  # lower are the versions of checkouts without tags


class Nearest:
    """The index, as seen from a folder."""

    def __init__(self, releases: Releases) -> None:
        """``releases`` fetches what is needed."""
        self._releases = releases

    def date_of(self, engine: str, version: str) -> datetime | None:
        """When a version was published; None: it was not, or nobody can be asked."""
        return next((info.date for info in self._known(engine) if info.version == version), None)

    def _known(self, engine: str) -> list[ReleaseInfo]:
        try:
            return self._releases.known(engine)
        except OwnProblem:
            return []

    def build_near(
        self, found: EngineFolder, version: str, commit: Commit | None, date: datetime, tree: Path
    ) -> tuple[Build | None, str | None]:
        """Add to ``tree`` what only the build of the nearest release has; what that is, and what to say of it.

        Nearest to a ``version`` at that ``date`` is the release of the commit's tag, else the newest up to it.
        """
        engine = found.engine
        base = self._nearest(engine.name, _version((commit and commit.tag) or version), date)
        if base is None:
            return None, "it has no build, and no earlier release is known whose build could stand in"
        try:
            place = self._releases.source(engine.name, base)
        except OwnProblem as problem:
            return None, f"it has no build, and that of {base} cannot be had: {problem}"
        record = record_in(place)
        same = Version(base) == _version(version)
        if record is None or record.build is None:
            return None, None if same else f"it has no build, and nor has {base}"
        there = names_in(tree)
        absent = {name for name in names_in(place / "tree") - there if name.startswith(f"{engine.package}/")}
        lacking = {name for name in absent if _is_below(name, record.build.only)}
        lacking |= _left_to_a_build(found, commit, absent - lacking)
        for name in lacking:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(place / "tree" / name, tree / name)
        only = {name for name in lacking if _is_below(name, record.build.only)}
        build = Build(record.build.vendor, compiled_modules(lacking), topmost(only, there | (lacking - only)))
        return build, None if same else f"what only a build has is taken from that of {base}"

    def _nearest(self, engine: str, wanted: Version, date: datetime) -> str | None:
        """The newest finished release up to that version, or where it is none, up to that date."""
        final = [info for info in self._known(engine) if not info.prerelease and not info.yanked]
        if wanted < _FIRST:  # nobody knows which it is
            return next((info.version for info in final if info.date is not None and info.date <= date), None)
        return next((info.version for info in final if Version(info.version) <= wanted), None)


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def _left_to_a_build(found: EngineFolder, commit: Commit | None, names: set[str]) -> set[str]:
    """Those of the files that a checkout lacks which are made in it by any build, and so in the sdist of a release."""
    if commit is None or not names:
        return set()
    prefix = "" if found.base == found.top else f"{found.base.relative_to(found.top).as_posix()}/"
    ignored = commit.ignored(f"{prefix}{name}" for name in sorted(names))
    return {name for name in names if f"{prefix}{name}" in ignored and not name.endswith("/_version.py")}


def _is_below(name: str, tops: tuple[str, ...]) -> bool:
    return any(name == top or name.startswith(f"{top}/") for top in tops)
