"""What a user may call a package: by its distribution or by its import name, as far as the engine or the release knows it."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from packaging.utils import canonicalize_name

from gonogo.engines.types import Engine
from gonogo.releases import Release
from gonogo.releases.installed import beside
from gonogo.releases.types import Beside


def imports_named(engine: Engine, release: Release, name: str) -> tuple[str, ...] | None:
    """The import names that ``name`` stands for; None where neither the engine's table nor the release knows it.

    A distribution stands for all that it is imported as, and so does its main import name (``torch``, not ``functorch``).
    """
    for distribution, imports in _distributions(engine, release).items():
        if canonicalize_name(name) == distribution and imports:
            return imports
    module = name.replace("-", "_")
    for imports in _distributions(engine, release).values():
        if imports and imports[0] == module:
            return imports
    return (module,) if module in _modules(engine, release) else None


def names_known(engine: Engine, release: Release) -> set[str]:
    """All names that imports_named() knows."""
    return set(_distributions(engine, release)) | _modules(engine, release)


def is_asked_for(release: Release, package: str, name: str) -> bool:
    """Whether the engine's own code names a package: imports it, or looks for it."""
    wanted = re.compile(rf"\b(?:import|from)\s+{re.escape(name)}\b|[\"']{re.escape(name)}[\"'.]")
    return any(
        name in text and wanted.search(text)
        for text in (path.read_text(errors="replace") for path in (release.root / package).rglob("*.py"))
    )


def _distributions(engine: Engine, release: Release) -> dict[str, tuple[str, ...]]:
    """Import names of each distribution, the main one first."""
    found: dict[str, tuple[str, ...]] = {}
    for module, distribution in _table_rows(engine):
        if distribution:
            name = str(canonicalize_name(distribution))
            found[name] = (*found.get(name, ()), *([module] if module not in found.get(name, ()) else []))
    there = {
        **in_environment(release.environment),
        **(release.installed.beside if release.installed is not None else {}),
    }
    for name, one in there.items():
        # one that several distributions share (google, opentelemetry) goes with them all, so only where there is no other
        own = [each for each in one.imports if sum(each in other.imports for other in there.values()) == 1]
        main = sorted(own or one.imports, key=lambda each: (canonicalize_name(each) != name, each.startswith("_")))
        found.setdefault(name, tuple(main))
    for distribution in release.versions:
        if canonicalize_name(distribution) not in found and distribution != engine.name:
            found[canonicalize_name(distribution)] = (re.sub(r"[-.]+", "_", distribution),)
    return found


def _modules(engine: Engine, release: Release) -> set[str]:
    """Import names that are known by themselves: of the table, of the environment, the engine's own that only a build has."""
    built = {name for names in engine.table.get("build", {}).get("modules", {}).values() for name in names}
    built |= set(release.build.compiled) if release.build is not None else set()
    there = {name for one in in_environment(release.environment).values() for name in one.imports}
    return {module for module, _ in _table_rows(engine)} | built | there


def left_out(engine: Engine, name: str) -> bool:
    """Whether the engine's table names it among what a light environment leaves out."""
    patterns = engine.table.get("environment", {}).get("without", [])
    return any(fnmatch.fnmatchcase(canonicalize_name(name), canonicalize_name(pattern)) for pattern in patterns)


def _table_rows(engine: Engine) -> Iterator[tuple[str, str]]:
    for rows in engine.table["packages"].values():
        yield from rows.items()


@cache
def in_environment(environment: Path) -> Mapping[str, Beside]:
    """The distributions of a light environment, which never changes."""
    return beside(environment)
