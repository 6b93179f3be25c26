"""Find, fetch, verify and unpack releases; build their light environments; what is cached where."""

from __future__ import annotations

from gonogo.releases.release import Releases
from gonogo.releases.types import Build, CachedRelease, Release

__all__ = ["Build", "CachedRelease", "Release", "Releases"]
