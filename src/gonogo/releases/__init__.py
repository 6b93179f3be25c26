"""Find, fetch, verify and unpack releases; build their light environments; what is cached where."""

from __future__ import annotations

from gonogo.releases.release import CachedRelease, Release, Releases

__all__ = ["CachedRelease", "Release", "Releases"]
