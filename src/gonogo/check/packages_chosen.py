"""Packages that the user says are there or not, against the official image."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from gonogo.dryrun.package_names import imports_named, is_asked_for, left_out, names_known
from gonogo.engines.types import Engine, engine_named
from gonogo.problems import UsageProblem
from gonogo.releases import Release, Releases

_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)


@dataclass(frozen=True)
class ChosenPackages:
    """Names as they were given; those of ``there`` may say a version (``ray==2.50``)."""

    gone: tuple[str, ...] = ()
    there: tuple[str, ...] = ()


def choose_packages(without: Sequence[str], with_: Sequence[str]) -> ChosenPackages:
    """The choice of a user. Raises UsageProblem for what is no package's name, and for one that is both."""
    gone, there = tuple(dict.fromkeys(without)), tuple(dict.fromkeys(with_))
    for name in (*gone, *(one.partition("==")[0] for one in there)):
        if not _NAME.fullmatch(name):
            raise UsageProblem(f"{name[:80]!r} is no package: write its distribution or import name")
    for one in there:
        _version(one)
    both = {_plain(name) for name in gone} & {_plain(one.partition("==")[0]) for one in there}
    if both:
        raise UsageProblem(f"{', '.join(sorted(both))} cannot be both there and not: leave out one of the two")
    return ChosenPackages(gone, there)


@dataclass(frozen=True)
class Applied:
    """The choice in a release: that with the versions of what is there besides, and of import names whether they are there.

    ``assumed`` is what a report says of it.
    """

    release: Release
    packages: dict[str, bool]
    assumed: tuple[str, ...]


def in_release(chosen: ChosenPackages, release: Release, releases: Releases) -> Applied:
    """Apply a choice.

    Raises UsageProblem for a name that neither the engine nor the release knows, OwnProblem where the index would have
    to be asked for a version and cannot be reached.
    """
    engine = engine_named(release.engine)
    packages: dict[str, bool] = {}
    versions: dict[str, str] = {}
    assumed = []
    for name in chosen.gone:
        packages |= dict.fromkeys(_gone(engine, release, name), False)
        assumed.append(f"packages: without {name}")
    for one in chosen.there:
        name, version = one.partition("==")[0], _version(one)
        packages |= dict.fromkeys(_there(engine, release, name), True)
        distribution = _plain(name)
        version = version or release.versions.get(distribution) or releases.version_on(distribution, release.date)
        if version is not None:
            versions[distribution] = version
        assumed.append(f"packages: with {name} {version or '(nobody knows which version)'}")
    if versions:
        identity = hashlib.sha256(json.dumps([release.identity, sorted(versions.items())]).encode()).hexdigest()[:16]
        release = replace(release, versions={**release.versions, **versions}, identity=identity)
    return Applied(release, packages, tuple(assumed))


def _gone(engine: Engine, release: Release, name: str) -> tuple[str, ...]:
    """The import names of a package that is not to be there."""
    imports = imports_named(engine, release, name)
    if imports is None and is_asked_for(release, engine.package, name.replace("-", "_")):
        raise UsageProblem(
            f"{name} is not among the packages of {engine.name} {release.version}: it is not there anyway"
        )
    if imports is None:
        raise UsageProblem(_unknown(engine, release, name))
    return imports


def _there(engine: Engine, release: Release, name: str) -> tuple[str, ...]:
    """The import names of a package that is to be there."""
    imports = imports_named(engine, release, name)
    module = name.replace("-", "_")
    if imports is None and not left_out(engine, name) and not is_asked_for(release, engine.package, module):
        raise UsageProblem(f"{_unknown(engine, release, name)} And its code does not ask for it.")
    return imports or (module,)


def _unknown(engine: Engine, release: Release, name: str) -> str:
    close = difflib.get_close_matches(_plain(name), sorted(names_known(engine, release)), 3, 0.6)
    hint = f": is it {' or '.join(close)}?" if close else "."
    return f"{engine.name} {release.version} knows no package {name!r}{hint}"


def _version(one: str) -> str | None:
    told = one.partition("==")[2]
    if not told and "==" not in one:
        return None
    try:
        return str(Version(told))
    except InvalidVersion:
        raise UsageProblem(f"{one[:80]!r} says no version: write NAME or NAME==1.2.3") from None


def _plain(name: str) -> str:
    return str(canonicalize_name(name))
