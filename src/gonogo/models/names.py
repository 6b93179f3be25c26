"""What a model's name can be: a repository on the hub, or a path."""

from __future__ import annotations

import os
import posixpath
import re

# The hub's own rule (huggingface_hub's validate_repo_id), kept here so that checking a name imports nothing.
_REPOSITORY = re.compile(r"(?:\b[\w\-.]{1,96}\b/)?\b[\w\-.]{1,96}\b", re.ASCII)
_IN_HUB_CACHE = re.compile(r"(?:^|/)models--([^/]+?)--([^/]+)(?:/|$)")
LONGEST = 4096  # PATH_MAX on Linux: no path and no repository is longer


def is_repository(name: str) -> bool:
    """Whether ``name`` could be a model repository on the hub: ``ORG/NAME``, or ``NAME`` for the oldest ones."""
    return bool(_REPOSITORY.fullmatch(name)) and "--" not in name and ".." not in name and not name.endswith(".git")


def is_path(name: str) -> bool:
    """Whether ``name`` is written as a path, so that nobody would look for it on the hub."""
    return name.startswith(("/", "./", "../", "~")) or name in (".", "..") or name.endswith("/") or name.count("/") > 1


def is_sane(name: str) -> bool:
    """Whether ``name`` can name anything at all: not empty, no NUL, no half letters, not longer than a path can be."""
    try:
        return bool(name.strip()) and "\0" not in name and len(os.fsencode(name)) <= LONGEST
    except UnicodeEncodeError:
        return False


def normal(path: str) -> str:
    """``path`` without ``./``, doubled and trailing slashes and inner ``..``: ``./a//b/`` and ``a/b`` are one mount."""
    plain = posixpath.normpath(path)
    return "/" + plain.lstrip("/") if plain.startswith("//") else plain


def repository_in_cache_path(path: str) -> str | None:
    """``ORG/NAME`` where ``path`` leads into a hub cache (``…/models--ORG--NAME/snapshots/…``), else None."""
    found = _IN_HUB_CACHE.search(path)
    return f"{found[1]}/{found[2]}" if found else None


def last_parts(name: str) -> tuple[str, ...]:
    """The last two components of ``name`` in lower case, the last one first: what two spellings of a model share."""
    parts = [part for part in normal(name).lower().split("/") if part not in ("", ".", "..", "~")]
    return tuple(reversed(parts[-2:]))
