"""Packages and their versions where the launch names no image: the engine may stand in an environment of its user's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from gonogo.dryrun import DryRun, World
from gonogo.releases import Release


def with_packages_open(run: DryRun, world: World, again: Callable[[World], DryRun]) -> DryRun:
    """``run``, a dry run with the packages of the official image, unless it hangs on one that may be installed besides.

    A refusal that speaks of a package which ``world`` lacks is tried again with it. If that ends otherwise, nobody knows.
    """
    if run.outcome.kind != "refused":
        return run
    decides = []
    for name in run.lacks:
        other = again(replace(world, packages={**world.packages, name: True}))
        if (other.outcome.kind, other.outcome.error) != (run.outcome.kind, run.outcome.error):
            decides.append(
                f"whether the package {name} is installed, which the official image does not have"
                f" (--with {name} and --without {name} say it)"
            )
    if not decides:
        return run
    reason = f"it depends on {'; '.join(decides)}"
    return replace(run, outcome=replace(run.outcome, kind="unclear", reason=reason, depends_on=tuple(decides)))


def with_versions_open(run: DryRun, world: World) -> DryRun:
    """``run``, unless it is a refusal that by its own words hangs on the version of a package that the release does not pin.

    The light environment has the version of the release's day. Who installs an engine may have a later one, as people do who
    want a model that is newer than the release.
    """
    outcome = run.outcome
    if outcome.kind != "refused" or outcome.error is None:
        return run
    told = [
        f"which {name} is installed: the official image has {version}"
        for name, version in _versions_named(outcome.error.message, world.release)
    ]
    if not told:
        return run
    advice = " (a launch by its image says it, and so does --release with the environment's folder)"
    reason = f"it depends on {'; '.join(told)}{advice}"
    return replace(run, outcome=replace(outcome, kind="unclear", reason=reason, depends_on=tuple(told)))


def _versions_named(message: str, release: Release) -> list[tuple[str, str]]:
    """Distributions, with versions, of whose version a message speaks."""
    pinned = _pinned(release.root)
    return [
        (name, version)
        for name, version in release.versions.items()
        if name != release.engine and name not in pinned and _speaks_of_version(message, name)
    ]


def _speaks_of_version(message: str, name: str) -> bool:
    spelt = r"[-_ ]?".join(re.escape(part) for part in re.split(r"[-_]", name) if part)
    speaks = (
        rf"(?<![\w.-])(?:versions? of {spelt}(?![\w-])|{spelt} versions?(?![\w-])|{spelt} ?(?:[<>=!~]=|[<>])\s*v?\d)"
    )
    return re.search(speaks, message, re.IGNORECASE) is not None


@cache
def _pinned(root: Path) -> frozenset[str]:
    """The distributions that a release asks for in one version only."""
    found = set()
    for path in root.glob("*.dist-info/METADATA"):
        for line in path.read_text(errors="replace").splitlines():
            try:
                asked = (
                    Requirement(line.removeprefix("Requires-Dist: ")) if line.startswith("Requires-Dist: ") else None
                )
            except InvalidRequirement:
                continue
            if asked is not None and any(one.operator in ("==", "===") for one in asked.specifier):
                found.add(str(canonicalize_name(asked.name)))
    return frozenset(found)
