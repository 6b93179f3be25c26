"""A container image by its name: which engine is in it, which release, and what its entry point supplies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from gonogo.engines import Engine
from gonogo.launches.programs import engines

_RELEASE = r"v?(\d+\.\d+(?:\.\d+)+(?:\.?(?:post|rc|a|b)\d+)*)"
_TAG_OF_RELEASE = re.compile(_RELEASE + r"(?:[-_].*)?")
_MOVING_BUILD = re.compile(r"nightly|(?:^|[-_.])dev(?:[-_.]|\d|$)")


@dataclass(frozen=True)
class Image:
    """An image as a launch names it.

    ``entry_point`` are the words that the image puts before the arguments; None where that is not known. ``engine``
    and ``release`` (``vllm==0.33.0``) are None where the name does not say them. ``guessed``: the image is not a
    known one, so ``entry_point`` may be wrong. ``notes`` say what was assumed.
    """

    name: str
    engine: str | None
    release: str | None
    entry_point: tuple[str, ...] | None
    notes: tuple[str, ...]
    guessed: bool = False


def read_image(name: str) -> Image:
    """What the image reference ``name`` (``REGISTRY/REPOSITORY:TAG@DIGEST``) says.

    The repository counts wherever it is mirrored (``ghcr.io/x/vllm/vllm-openai``). One that is only called like a known
    one, or has an engine's name in its own, is taken to be a copy, with a note.
    """
    repository, tag, digest = _parts(name)
    last = repository.rpartition("/")[2]
    for engine in engines():
        for known in engine.images:
            if repository == known or repository.endswith("/" + known):
                return _read(name, engine, known, tag, digest, ())
    for engine in engines():
        for known in engine.images:
            if last == known.rpartition("/")[2] and last != engine.package:
                return _read(
                    name, engine, known, tag, digest, (f"image {repository} is taken to be a copy of {known}",)
                )
    for engine in engines():
        if engine.package in last.lower():
            alike = next(iter(engine.images))
            start = tuple(engine.images[alike])
            how = f"to start like {alike}" if start else f"to have no entry point, like {alike}"
            return _read(
                name, engine, alike, tag, digest, (f"image {repository} is not a known one and is taken {how}",)
            )
    return Image(name, None, None, None, (f"image {name} is not a known one, so it does not say the release",))


def _parts(name: str) -> tuple[str, str | None, str | None]:
    """Repository with registry, tag and digest. A colon before the last slash is a registry's port."""
    rest, _, digest = name.partition("@")
    folder, slash, last = rest.rpartition("/")
    last, _, tag = last.partition(":")
    return folder + slash + last, tag or None, digest or None


def _read(name: str, engine: Engine, known: str, tag: str | None, digest: str | None, notes: tuple[str, ...]) -> Image:
    guessed = bool(notes)
    version = _version(engine, tag)
    release = f"{engine.name}=={version}" if version else None
    if release is None:
        what = f"image {name}" if tag or digest else f"image {name} without a tag"
        notes = (*notes, f"{what} does not fix the release")
    return Image(name, engine.name, release, _entry_point(engine, known, version), notes, guessed)


def _version(engine: Engine, tag: str | None) -> Version | None:
    """The release that ``tag`` names: ``v0.33.0-cu129``, ``0.5.23``, ``rocm7.0_vllm_0.11.1``. None for a moving one."""
    if tag is None or _MOVING_BUILD.search(tag):
        return None
    found = _TAG_OF_RELEASE.fullmatch(tag) or re.search(rf"(?:^|[-_]){engine.package}[-_]?{_RELEASE}(?=$|[-_])", tag)
    try:
        return Version(found[1]) if found else None
    except InvalidVersion:
        return None


def _entry_point(engine: Engine, known: str, version: Version | None) -> tuple[str, ...]:
    older = engine.table.get("older_entry_points", {}).get(known)
    if older and version is not None and version < Version(older["before"]):
        return tuple(older["words"])
    return engine.images[known]
