"""What the rest of gonogo is told of releases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True)
class Build:
    """What of a release's tree comes from one build of the engine, and is not in its source.

    ``vendor`` is whose build it is (``nvidia``); None: everybody's. ``compiled`` are import names of the engine's own
    compiled modules, whose files stand empty in the tree. ``only`` are files and folders below the release's root that
    another vendor's build need not have; none where nobody can tell.
    """

    vendor: str | None
    compiled: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beside:
    """A distribution that is installed beside an engine.

    ``imports`` are its import names, ``needs`` the distributions it asks for under any condition. ``elsewhere``: it does
    not come from a package index.
    """

    version: str
    imports: tuple[str, ...]
    needs: tuple[str, ...]
    elsewhere: bool = False


@dataclass(frozen=True)
class Installed:
    """The environment that an engine is installed in, made for hardware of ``vendor``: its distributions by name."""

    vendor: str
    beside: dict[str, Beside]


@dataclass(frozen=True)
class Release:
    """One release of an engine, unpacked, with its light environment.

    ``root`` is the folder that holds the engine's package (it goes on ``sys.path``), ``environment`` the site folder
    with the packages that it imports, ``python`` the interpreter to run both with. ``versions`` are all distributions
    that the image of the release holds because of its requirements, those left out of the environment too (torch), and
    the engine itself; names are normalised (``flashinfer-python``). ``date`` is when the release was published.
    ``identity`` changes when any of this does: part of the keys under which outcomes are cached. ``build`` is None where
    only the source could be had. ``published`` is False where nobody can tell that its files are those which were
    published under this version. ``installed`` tells what stands beside an engine that was found installed.
    """

    engine: str
    version: str
    root: Path
    requires_python: str
    date: datetime
    environment: Path
    python: Path
    versions: dict[str, str]
    identity: str
    build: Build | None = None
    published: bool = True
    installed: Installed | None = None


@dataclass(frozen=True)
class CachedRelease:
    """A release in the cache.

    ``size`` is in bytes on disk; ``own`` is the part that no other release shares. ``has_packages`` is False where only
    its source is there, as after a fetch that was broken off. ``folder`` is where it was taken from, None: the index.
    """

    engine: str
    version: str
    date: datetime
    size: int
    own: int
    path: Path
    has_packages: bool = True
    folder: str | None = None
