"""Model facts with some assumed: what stands in for models whose own facts cannot be had."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gonogo.models.find import Models
from gonogo.models.standins import SHAPES, stand_in
from gonogo.models.types import ModelFacts

_FILE_LIKE = re.compile(r"\.[a-z]{2,6}$")


class AssumedModels(Models):
    """Model facts, with ``assumed`` ones for the names that ``models`` knows nothing of."""

    def __init__(self, models: Models, assumed: dict[str, ModelFacts]) -> None:
        """Both are asked: ``models`` first."""
        self._models_behind = models
        self._assumed = assumed
        self.notes = models.notes

    def facts(self, name: str, revision: str | None = None) -> ModelFacts | None:
        """The facts of the model, its own or assumed ones."""
        return self._models_behind.facts(name, revision) or self._assumed.get(name)

    def local(self, word: str) -> ModelFacts | None:
        """The facts of a path, its own or assumed ones."""
        return self._models_behind.local(word) or self._assumed.get(word.rstrip("/") or word)


def assumptions(missing: tuple[str, ...], models: Models) -> Iterator[tuple[str, AssumedModels]]:
    """What the missing models could be, each with a word for it.

    The one model of the models folder that a path or bare name seems to mean, if there is one for every name; else every
    stand-in shape, the same for all names.
    """
    names = [name for name in missing if not _FILE_LIKE.search(name)]
    if not names:
        return
    similar = {name: found for name in names if (found := models.similar(name)) is not None}
    if len(similar) == len(names):
        known = {name.rstrip("/"): facts for name, facts in similar.items()}
        yield "the model of that name in the models folder", AssumedModels(models, known)
        return
    for shape in SHAPES:
        known = {name.rstrip("/"): similar.get(name) or replace(stand_in(name, shape), name=name) for name in names}
        yield f"a stand-in: {shape}", AssumedModels(models, known)
