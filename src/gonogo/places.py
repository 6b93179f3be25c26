"""Where gonogo keeps what it can fetch again."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from gonogo.problems import OwnProblem


def cache_folder() -> Path:
    """The folder of everything cached: ``GONOGO_CACHE`` where set, else the system's place for caches. May not exist.

    Raises OwnProblem where neither says one: for a user without a home.
    """
    chosen = os.environ.get("GONOGO_CACHE")
    try:
        return Path(chosen or platformdirs.user_cache_dir("gonogo")).expanduser().absolute()
    except (RuntimeError, FileNotFoundError):  # no home, no working folder
        raise OwnProblem("there is no place for the cache: set GONOGO_CACHE to the full path of a folder") from None
