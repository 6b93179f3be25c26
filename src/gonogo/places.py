"""Where gonogo keeps what it can fetch again."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """The folder of everything cached: ``GONOGO_CACHE`` where set, else the system's place for caches. May not exist."""
    chosen = os.environ.get("GONOGO_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("gonogo"))
