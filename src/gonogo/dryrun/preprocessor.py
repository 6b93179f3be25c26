"""Stand-in preprocessors for a model whose own are not among its facts: those that transformers has for its kind of model.

Which classes these are stands in the tables of transformers' auto classes, which are read in the light environment; all values
are the classes' own defaults.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from gonogo.dryrun.auto_tables import auto_tables
from gonogo.dryrun.store import read_json, write_json

#: Table of the auto classes → (the file, the key in it) that names the class.
_TABLES = {
    "IMAGE_PROCESSOR_MAPPING_NAMES": ("preprocessor_config.json", "image_processor_type"),
    "FEATURE_EXTRACTOR_MAPPING_NAMES": ("preprocessor_config.json", "feature_extractor_type"),
    "PROCESSOR_MAPPING_NAMES": ("preprocessor_config.json", "processor_class"),
    "VIDEO_PROCESSOR_MAPPING_NAMES": ("video_preprocessor_config.json", "video_processor_type"),
}
_OTHER_FILES = ("processor_config.json",)


def has_preprocessor(files: dict[str, str]) -> bool:
    """Is there a file of a preprocessor of any kind among these?"""
    return any(name in files for name in (*_OTHER_FILES, *(file for file, _ in _TABLES.values())))


def stand_in_preprocessors(environment: Path, config: Path, cache: Path) -> dict[str, str]:
    """File name → file of the stand-in preprocessors for the model of this config.json, written to ``cache`` once.

    None for a model that transformers has no preprocessor for, as it has none for plain language models.
    """
    told = read_json(config)
    kind = told.get("model_type") if isinstance(told, dict) else None
    files: dict[str, dict[str, str]] = {}
    for table, (name, key) in _TABLES.items():
        known = auto_tables(environment).get(table, {}).get(kind) if isinstance(kind, str) else None
        if known:
            files.setdefault(name, {})[key] = known[0]
    found: dict[str, str] = {}
    for name, content in files.items():
        if set(content) == {"processor_class"}:
            continue  # a processor of nothing but a tokenizer needs no file
        place = cache / f"{hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]}.json"
        if read_json(place) != content:
            write_json(place, content)
        if place.exists():
            found[name] = str(place)
    return found
