"""Model facts: the small files that say what a model is. Never weights, never its code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Origin = Literal["models folder", "folder", "hub cache", "hub", "stand-in"]


@dataclass(frozen=True)
class WeightFacts:
    """How heavy a model's weights are: counts of parameters and bytes on disk; None where not known.

    ``bytes_without_mtp`` leaves out the layers that only speculative decoding loads. ``source`` says where the figures
    come from.
    """

    parameters: int | None = None
    bytes: int | None = None
    bytes_without_mtp: int | None = None
    source: str = ""


@dataclass(frozen=True)
class ModelFacts:
    """What is known of one model.

    ``name`` is how the launch names it (``ORG/NAME`` or a path). ``files`` maps a name inside the model's repository
    (``config.json``) to a file on disk that holds it. ``listed`` names every file that the repository is known to have
    (weights too, by name only); None: the full list is not known, so a file not in ``files`` may or may not exist.
    ``absent`` names files that the repository is known not to have where ``listed`` is None. ``weights`` is how heavy
    it is, where known. ``stand_in`` names the shape where the facts are a stand-in for a model whose own could not be
    had.
    """

    name: str
    origin: Origin
    files: dict[str, Path]
    listed: frozenset[str] | None = None
    stand_in: str | None = None
    absent: frozenset[str] = frozenset()
    weights: WeightFacts | None = None
