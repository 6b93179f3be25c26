"""Facts of a model of which only the family is known: its configuration's defaults, and stand-ins of what stands beside them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from gonogo.dryrun.families import Family
from gonogo.dryrun.preprocessor import stand_in_preprocessors
from gonogo.dryrun.store import read_json, write_json
from gonogo.dryrun.tokenizer import stand_in_tokenizer
from gonogo.models.types import ModelFacts
from gonogo.releases import Release


def family_stand_in(family: Family, name: str, release: Release, cache: Path, context: int) -> ModelFacts | None:
    """The facts of a model ``name`` of this family, written to ``cache``; None where the disk is full.

    ``context`` is its length in tokens, which is not used for models of more than text: theirs stands in a part of the
    configuration. The repository is whole: besides these files it lists one safetensors file.
    """
    plain = _config(family.config(), cache)
    preprocessors = {} if plain is None else stand_in_preprocessors(release.environment, plain, cache / "preprocessors")
    config = plain if preprocessors else _config(family.config(context), cache)
    if config is None:
        return None
    files = {**stand_in_tokenizer(release, cache / "tokenizers"), **preprocessors, "config.json": str(config)}
    return ModelFacts(
        name=name,
        origin="stand-in",
        files={file: Path(place) for file, place in sorted(files.items())},
        listed=frozenset(files) | {"model.safetensors"},
        stand_in=family.model_type,
    )


def _config(values: dict[str, object], cache: Path) -> Path | None:
    place = cache / "families" / f"{hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]}.json"
    if read_json(place) != values:
        write_json(place, values)
    return place if place.exists() else None
