"""Which packages a world has: those of the official image, told by the engine's table and by the release itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from gonogo.dryrun.package_names import in_environment
from gonogo.engines.types import Engine
from gonogo.releases import Release


@dataclass(frozen=True)
class Packages:
    """``faked``: import names that a stand-in takes the place of, with their version. ``absent``: those that are not found.

    ``hidden`` are files and folders of the release, below its root, that this vendor's build does not have; ``empty``
    files that it has and the release here lacks; ``unlisted`` folders of metadata in the light environment that are not there.
    """

    faked: dict[str, str]
    absent: frozenset[str]
    hidden: tuple[str, ...]
    empty: tuple[str, ...]
    unlisted: tuple[str, ...] = ()


def vendors_table(engine: Engine, vendor: str) -> dict[str, str]:
    """Import name → distribution of the packages that stand in the official image of a vendor."""
    packages = engine.table["packages"]
    return {**packages["all"], **packages.get(vendor, {})}


def packages_in(engine: Engine, release: Release, vendor: str, chosen: Mapping[str, bool]) -> Packages:
    """The packages of a release's image for a vendor, but for those that are ``chosen`` to be there or not.

    Faked are the packages of the engine's table for this vendor, and what the release requires but its light
    environment leaves out: it is in the image, and a dry run that comes to it must not take it for missing.
    """
    tables = engine.table["packages"]
    versions, table = release.versions, vendors_table(engine, vendor)
    told = told_by_environment(release, vendor)
    if told:
        every = {name: distribution for rows in tables.values() for name, distribution in rows.items()}
        table = {name: one for name, one in every.items() if _is_beside(engine, release, name, one)}
        elsewhere = set(every) - set(table)
    else:
        elsewhere = {name for other in tables if other not in ("all", vendor) for name in tables[other]} - set(table)
    installed = _installed(release.environment)
    faked = {name: versions.get(distribution, "1.0.0") if distribution else "" for name, distribution in table.items()}
    for distribution, version in versions.items():
        names = imports_of(release, distribution)
        vendors_own = not told and vendor != "nvidia" and distribution in tables.get("nvidia", {}).values()
        if distribution in table.values() or distribution in installed or vendors_own:
            continue
        for name in names:
            known = name in faked or name in elsewhere or name == engine.package
            if not known and not (release.environment / name).exists():
                faked[name] = version
    own = _own_modules(engine, release, vendor)
    faked |= own.faked
    absent = elsewhere | own.absent
    for name, there in chosen.items():
        if there:
            faked.setdefault(name, _version_of(release, name))
            absent.discard(name)
        else:
            faked = {
                each: version for each, version in faked.items() if each != name and not each.startswith(name + ".")
            }
            absent.add(name)
    gone = {name for name, there in chosen.items() if not there}
    return Packages(faked, frozenset(absent), own.hidden, own.empty, _unlisted(release.environment, gone))


def _unlisted(environment: Path, gone: set[str]) -> tuple[str, ...]:
    """The metadata of distributions all of whose import names are ``gone``."""
    names = [name for name, one in in_environment(environment).items() if gone.issuperset(one.imports)] if gone else []
    return tuple(
        sorted(
            place.name
            for place in environment.glob("*-*.dist-info")
            if canonicalize_name(place.name.partition("-")[0]) in names
        )
    )


def _own_modules(engine: Engine, release: Release, vendor: str) -> Packages:
    """Of the engine's own modules those that come with a build.

    Of the vendor whose build the release's tree holds, the tree itself tells: only compiled modules have to be faked.
    Of another one the engine's table does.
    """
    modules: dict[str, list[str]] = engine.table.get("build", {}).get("modules", {})
    build = release.build
    if build is not None and build.vendor in (None, vendor):
        return Packages(dict.fromkeys(build.compiled, ""), frozenset(), (), ())
    own = modules.get(vendor, [])
    hidden = build.only if build is not None else ()
    others = {name for each in modules.values() for name in each} | {_module_of(name) for name in hidden}
    absent = frozenset(name for name in others if not any(f"{each}.".startswith(f"{name}.") for each in own))
    empty = tuple(f"{name.replace('.', '/')}.py" for name in own)
    return Packages(dict.fromkeys(own, ""), absent, hidden, empty)


def _module_of(name: str) -> str:
    """The import name of a file or folder of the release."""
    path = PurePosixPath(name)
    return ".".join((*path.parts[:-1], path.name.partition(".")[0]))


def told_by_environment(release: Release, vendor: str) -> bool:
    """Whether the release was found in an environment for this vendor's hardware, which tells what stands beside it."""
    return release.installed is not None and release.installed.vendor == vendor


def _is_beside(engine: Engine, release: Release, name: str, distribution: str) -> bool:
    """Whether a package of the engine's table stands in the environment that the release was found in."""
    there = release.installed.beside if release.installed is not None else {}
    return (
        name.startswith(f"{engine.package}.")
        or distribution in there
        or any(name.partition(".")[0] in one.imports for one in there.values())
    )


def _version_of(release: Release, name: str) -> str:
    """The version of the distribution that is imported under this name."""
    owners = (one for distribution, one in release.versions.items() if name in imports_of(release, distribution))
    return next(owners, "1.0.0")


def imports_of(release: Release, distribution: str) -> tuple[str, ...]:
    """What a distribution is imported as: as its files tell, or as far as its name does."""
    there = release.installed.beside if release.installed is not None else {}
    if distribution in there:
        return there[distribution].imports
    return (re.sub(r"[-.]+", "_", distribution),)


def distributions_in(faked: Collection[str], table: Mapping[str, str], release: Release) -> dict[str, str]:
    """The distributions that these import names belong to, with their versions."""
    versions = release.versions
    found = {
        distribution: versions.get(distribution, "1.0.0")
        for name, distribution in table.items()
        if distribution and name in faked
    }
    return found | {
        name: version for name, version in versions.items() if any(each in faked for each in imports_of(release, name))
    }


def modules_of(
    distributions: Collection[str], faked: Collection[str], table: Mapping[str, str], release: Release
) -> dict[str, list[str]]:
    """The top modules that each distribution brings, which code may ask for by either name."""
    brought = {name: {each for each in imports_of(release, name) if each in faked} for name in distributions}
    for module, distribution in table.items():
        if module in faked and distribution in brought:
            brought[distribution].add(module.partition(".")[0])
    return {name: sorted(modules) for name, modules in brought.items()}


@cache
def _installed(environment: Path) -> frozenset[str]:
    """Distributions of a light environment. Every dry run asks, and an environment never changes."""
    return frozenset(canonicalize_name(place.name.partition("-")[0]) for place in environment.glob("*-*.dist-info"))
