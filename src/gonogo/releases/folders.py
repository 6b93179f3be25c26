"""An engine in a folder: a checkout, an unpacked sdist or wheel, a site folder, a virtual environment. What there is of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from gonogo.engines.types import ENGINES, Engine, engine_named
from gonogo.problems import UsageProblem

FolderKind = Literal["checkout", "sdist", "wheel", "installed"]


@dataclass(frozen=True)
class EngineFolder:
    """``base`` is the folder that the engine's package stands in, ``top`` that of a checkout's .git.

    ``metadata`` is the folder of its METADATA, or the file PKG-INFO; a checkout has none. ``site`` is the site folder that
    it is installed in, where other packages stand beside it; for an editable installation that is elsewhere than ``base``.
    """

    engine: Engine
    kind: FolderKind
    top: Path
    base: Path
    metadata: Path | None = None
    site: Path | None = None


def find_engine(folder: Path, engine: Engine) -> EngineFolder | None:
    """The engine in a folder; None where it is not there.

    Raises UsageProblem for a folder that is nearly one that holds it.
    """
    below = str(engine.table.get("checkout", {}).get("folder", "."))
    for base in dict.fromkeys((folder, folder / below)):
        if (base / engine.package / "__init__.py").is_file() and (found := _of(engine, folder, base)) is not None:
            return found
    for site in _sites(folder):
        if (found := installed_in(site, engine)) is not None:
            return found
    if folder.name == engine.package and (folder / "__init__.py").is_file():
        raise UsageProblem(f"{folder} is the package {engine.package} itself: give the folder that it stands in")
    return None


def engines_in(folder: Path) -> list[EngineFolder]:
    """All engines in a folder. Raises UsageProblem where there is none."""
    try:
        if not folder.is_dir():
            raise UsageProblem(f"there is no folder {folder}")
    except OSError as error:
        raise UsageProblem(f"there is no folder {str(folder)[:80]!r} ({error.strerror})") from None
    found = [one for name in ENGINES if (one := find_engine(folder, engine_named(name))) is not None]
    if not found:
        raise UsageProblem(
            f"{folder} holds no {' or '.join(ENGINES)}: a release is a checkout, an unpacked sdist or wheel, "
            f"or a virtual environment with the engine installed"
        )
    return found


def _of(engine: Engine, folder: Path, base: Path) -> EngineFolder | None:
    """What the folder is that the engine's package stands in."""
    information = distribution_of(base, engine)
    if information is not None:
        beside = any(other != information for other in base.glob("*.dist-info"))
        return EngineFolder(
            engine, "installed" if beside else "wheel", base, base, information, base if beside else None
        )
    if (base / "PKG-INFO").is_file():
        return EngineFolder(engine, "sdist", base, base, base / "PKG-INFO")
    if (base / "pyproject.toml").is_file() or (base / "setup.py").is_file():
        top = next((place for place in (folder, base, base.parent) if (place / ".git").exists()), base)
        return EngineFolder(engine, "checkout", top, base)
    return None


def _sites(folder: Path) -> Iterator[Path]:
    """The site folders of a virtual environment."""
    for library in ("lib", "lib64"):
        yield from sorted((folder / library).glob("python3*/site-packages"))


def installed_in(site: Path, engine: Engine) -> EngineFolder | None:
    """The engine that is installed in a site folder, or in an editable way elsewhere; None where it is not."""
    information = distribution_of(site, engine)
    if information is None:
        return None
    if (site / engine.package / "__init__.py").is_file():
        return EngineFolder(engine, "installed", site, site, information, site)
    source = _editable(information)
    found = find_engine(source, engine) if source is not None and source != site else None
    return None if found is None else replace(found, site=site)


def distribution_of(site: Path, engine: Engine) -> Path | None:
    """The folder with the metadata of the engine among those in a site folder."""
    for place in sorted(site.glob("*.dist-info")):
        if canonicalize_name(place.name.partition("-")[0]) == engine.name and (place / "METADATA").is_file():
            return place
    return None


def _editable(information: Path) -> Path | None:
    """The folder of an editable installation."""
    try:
        told = json.loads((information / "direct_url.json").read_bytes())
        address = urlsplit(told["url"])
        if address.scheme == "file" and told["dir_info"]["editable"] is True:
            return Path(unquote(address.path))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def headers_of(metadata: Path) -> dict[str, list[str]]:
    """The headers of a METADATA or PKG-INFO, by name."""
    try:
        told = BytesHeaderParser().parsebytes((metadata / "METADATA" if metadata.is_dir() else metadata).read_bytes())
    except OSError:
        return {}
    return {name: [str(value) for value in told.get_all(name, [])] for name in told}
