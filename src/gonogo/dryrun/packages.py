"""Which packages a world has: those of the official image, told by the engine's table and by the release itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from gonogo.engines.types import Engine
from gonogo.releases import Release


@dataclass(frozen=True)
class Packages:
    """``faked``: import names that a stand-in takes the place of, with their version. ``absent``: those that are not found.

    ``hidden`` are files and folders of the release, below its root, that this vendor's build does not have; ``empty``
    files that it has and the release here lacks.
    """

    faked: dict[str, str]
    absent: frozenset[str]
    hidden: tuple[str, ...]
    empty: tuple[str, ...]


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
    installed = _installed(release.environment)
    faked = {name: versions.get(distribution, "1.0.0") if distribution else "" for name, distribution in table.items()}
    elsewhere = {name for other in tables if other not in ("all", vendor) for name in tables[other]} - set(table)
    for distribution, version in versions.items():
        name = import_name(distribution)
        known = distribution in table.values() or name in faked or name in elsewhere or name == engine.package
        vendors_own = vendor != "nvidia" and distribution in tables.get("nvidia", {}).values()
        if not known and not vendors_own and not (release.environment / name).exists() and name not in installed:
            faked[name] = version
    own = _own_modules(engine, release, vendor)
    faked |= own.faked
    absent = elsewhere | own.absent
    for name, there in chosen.items():
        if there:
            faked.setdefault(name, versions.get(name, "1.0.0"))
            absent.discard(name)
        else:
            faked = {
                each: version for each, version in faked.items() if each != name and not each.startswith(name + ".")
            }
            absent.add(name)
    return Packages(faked, frozenset(absent), own.hidden, own.empty)


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


def import_name(distribution: str) -> str:
    """What a distribution is imported as, as far as its name tells."""
    return re.sub(r"[-.]+", "_", distribution)


def distributions_in(faked: Iterable[str], table: Mapping[str, str], versions: Mapping[str, str]) -> dict[str, str]:
    """The distributions that these import names belong to, with their versions."""
    found = {
        distribution: versions.get(distribution, "1.0.0")
        for name, distribution in table.items()
        if distribution and name in faked
    }
    return found | {name: version for name, version in versions.items() if import_name(name) in faked}


def modules_of(distributions: Iterable[str], faked: Iterable[str], table: Mapping[str, str]) -> dict[str, list[str]]:
    """The top modules that each distribution brings, which code may ask for by either name."""
    known = set(faked)
    brought = {name: {import_name(name)} & known for name in distributions}
    for module, distribution in table.items():
        if module in known and distribution in brought:
            brought[distribution].add(module.partition(".")[0])
    return {name: sorted(modules) for name, modules in brought.items()}


@cache
def _installed(environment: Path) -> frozenset[str]:
    """Distributions of a light environment, named as its folders are. Every dry run asks, and an environment never changes."""
    return frozenset(place.name.partition("-")[0] for place in environment.glob("*-*.dist-info"))
