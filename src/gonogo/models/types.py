"""Model facts: the small files that say what a model is. Never weights, never its code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Origin = Literal["models folder", "folder", "hub cache", "hub", "stand-in"]


@dataclass(frozen=True)
class ModelFacts:
    """What is known of one model.

    ``name`` is how the launch names it (``ORG/NAME`` or a path). ``files`` maps a name inside the model's repository
    (``config.json``) to a file on disk that holds it. ``listed`` names every file that the repository is known to have
    (weights too, by name only); None: the full list is not known, so a file not in ``files`` may or may not exist.
    ``stand_in`` names the shape where the facts are a stand-in for a model whose own could not be had.
    """

    name: str
    origin: Origin
    files: dict[str, Path]
    listed: frozenset[str] | None = None
    stand_in: str | None = None
