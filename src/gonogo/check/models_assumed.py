"""Model facts with some assumed: what stands in for models whose own facts cannot be had."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gonogo.dryrun.families import Family, families_named
from gonogo.dryrun.family_facts import family_stand_in
from gonogo.models.find import Models
from gonogo.models.names import is_path, is_repository
from gonogo.models.standins import SHAPES, stand_in
from gonogo.models.types import ModelFacts
from gonogo.releases import Release

_CONTEXTS = (32768, 1 << 20)  # tokens
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
        """The facts of a path, its own or assumed ones. What is no path is asked of the hub, as the launch itself would."""
        assumed = self._assumed.get(word.rstrip("/") or word) if is_path(word) or not is_repository(word) else None
        return self._models_behind.local(word) or assumed


def assumptions(missing: tuple[str, ...], models: Models) -> Iterator[tuple[str, AssumedModels]]:
    """What the missing models could be whatever their names say, each with a word for it.

    The one model of the models folder that a path or bare name seems to mean, if there is one for every name; else every
    stand-in shape, the same for all names.
    """
    names = _models_in(missing)
    if not names:
        return
    similar = _similar(names, models)
    if len(similar) == len(names):
        known = {name.rstrip("/"): facts for name, facts in similar.items()}
        yield "the model of that name in the models folder", AssumedModels(models, known)
        return
    for shape in SHAPES:
        known = {name.rstrip("/"): similar.get(name) or replace(stand_in(name, shape), name=name) for name in names}
        yield f"a stand-in: {shape}", AssumedModels(models, known)


def assumptions_by_name(
    missing: tuple[str, ...], models: Models, release: Release, cache: Path
) -> tuple[str, tuple[AssumedModels, ...]]:
    """What the missing models are by their names, and words for it; nothing where a name tells no family of the release.

    Every family that a name may mean, with two lengths of context where a family leaves that open.
    """
    names = _models_in(missing)
    if not names or len(_similar(names, models)) == len(names):
        return "", ()
    plausible = {name: families_named(name, release) for name in names}
    if not all(plausible.values()):
        return "", ()
    kinds = {name: _facts_of(families, name, release, cache) for name, families in plausible.items()}
    many = max(len(each) for each in kinds.values())
    told = " or ".join(dict.fromkeys(one.model_type for families in plausible.values() for one in families))
    return f"a stand-in by its name: {told}", tuple(
        AssumedModels(models, {name.rstrip("/"): each[min(number, len(each) - 1)] for name, each in kinds.items()})
        for number in range(many)
    )


def _models_in(missing: tuple[str, ...]) -> list[str]:
    return [name for name in missing if not _FILE_LIKE.search(name)]


def _similar(names: list[str], models: Models) -> dict[str, ModelFacts]:
    return {name: found for name in names if (found := models.similar(name)) is not None}


def _facts_of(families: tuple[Family, ...], name: str, release: Release, cache: Path) -> list[ModelFacts]:
    """The facts of a model of each family: the first one with a short and a long context, the others with a long one."""
    found: list[ModelFacts] = []
    for number, family in enumerate(families):
        for context in _CONTEXTS[1:] if number else _CONTEXTS:
            made = family_stand_in(family, name, release, cache, context)
            if made is not None and made not in found:
                found.append(made)
    return found
