"""Families of models that a release can serve, and which of them a model's name means.

A family is a model type with the architecture that serves it. Both stand in texts: the tables of transformers' auto classes
in the light environment, and the engine's own configuration classes and registry of models. Nothing of them is run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gonogo.dryrun.auto_tables import auto_tables
from gonogo.releases import Release

#: Tables that say which class serves a model type, the ones for models of more than text first.
_SERVED_BY = (
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES",
    "MODEL_FOR_VISION_2_SEQ_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
)
_ARCHITECTURE = re.compile(r"[A-Z]\w*For[A-Z]\w+")
_MODEL_TYPE = re.compile(r"""^    model_type(?:: *\w+)? *= *["'](\w+)["']""", re.MULTILINE)
_BESIDE = "moe"  # a mixture of experts often bears the name of its dense kin
#: So many billions of parameters active, of which only a mixture of experts has fewer than all: ``30B-A3B``.
_ACTIVE = re.compile(r"\bA\d+(?:\.\d+)?B\b", re.IGNORECASE)
_SHORTEST = 3  # letters of a model type that a name can mean


@dataclass(frozen=True)
class Family:
    """``model_type`` of config.json, and one of the engine's architectures."""

    model_type: str
    architecture: str

    def config(self, context: int | None = None) -> dict[str, object]:
        """A config.json of this family: all values are its configuration class's defaults, but for a ``context`` length."""
        told: dict[str, object] = {
            "model_type": self.model_type,
            "architectures": [self.architecture],
            "torch_dtype": "bfloat16",
        }
        return {**told, "max_position_embeddings": context} if context is not None else told


def families_named(name: str, release: Release) -> tuple[Family, ...]:
    """The families that a model's ``name`` may mean, the likeliest first: those of the longest model type that stands in it.

    A name may stand for the next kin too: a mixture of experts, and an earlier model of the same make whose type serves the
    later ones (``Qwen3.6`` is of the type ``qwen3_5``).
    """
    families = _families(release.root, release.environment, release.engine)
    last = name.rstrip("/").rpartition("/")[2]
    best: tuple[int, str] = (_SHORTEST - 1, "")
    for word in _beginnings(last):
        if len(word) > best[0] and word in families:
            best = (len(word), word)
    stems = [best[1], *_of_that_version(best[1], last, families)] if best[1] else []
    keys = [key for stem in stems for key in (stem, stem + _BESIDE) if key in families]
    experts = [key for key in keys if key.endswith(_BESIDE)]
    if _ACTIVE.search(last) and experts:
        keys = experts
    return tuple(families[key] for key in dict.fromkeys(keys))


def _beginnings(name: str) -> Iterator[str]:
    """What stands in ``name`` in plain letters, from the start of any of its parts to the end of any later one.

    A part ends too where letters and digits meet, but for a size (``8B``): that is one.
    """
    parts = re.findall(r"\d+[bBmM]\b|\d+|[A-Z]*[a-z]+|[A-Z]+", re.sub(r"[^\x00-\x7f]", " ", name))
    for first in range(len(parts)):
        for last in range(first, len(parts)):
            yield _plain("".join(parts[first : last + 1]))


def _of_that_version(stem: str, name: str, families: dict[str, Family]) -> list[str]:
    """Model types that are ``stem`` and a number: one of the name's, or the last before its minor version."""
    numbered = {int(key[len(stem) :]): key for key in families if key.startswith(stem) and key[len(stem) :].isdigit()}
    found = [
        numbered[number] for number in map(int, re.findall(r"(?<![\d.])\d+(?![\d.]*[bB])", name)) if number in numbered
    ]
    for major, minor in re.findall(r"(?<![\d.])(\d+)\.(\d+)", name):
        before = [number for number in numbered if number <= int(minor)] if stem.endswith(major) else []
        found += [numbered[max(before)]] if before else []
    return found


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@lru_cache(maxsize=8)
def _families(root: Path, environment: Path, engine: str) -> dict[str, Family]:
    """Model type in plain letters → family, of those that the engine has an architecture for."""
    served = _architectures(root / engine)
    by_name = {_plain(name.partition("For")[0]): name for name in sorted(served, reverse=True)}
    tables = auto_tables(environment)
    types = [*tables.get("CONFIG_MAPPING_NAMES", {}), *_own_model_types(root / engine)]
    found: dict[str, Family] = {}
    for model_type in types:
        known = [name for table in _SERVED_BY for name in tables.get(table, {}).get(model_type, ()) if name in served]
        architecture = known[0] if known else by_name.get(_plain(model_type))
        if architecture is not None:
            found.setdefault(_plain(model_type), Family(model_type, architecture))
    return found


def _architectures(package: Path) -> frozenset[str]:
    """Names of architectures in the engine's registry: keys of its tables, or what its modules of models hand over."""
    found: set[str] = set()
    for path in sorted(package.rglob("models/*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        found.update(name for name in _registered(tree) if _ARCHITECTURE.fullmatch(name))
    return frozenset(found)


def _registered(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        names = [target.id for target in getattr(statement, "targets", ()) if isinstance(target, ast.Name)]
        value = getattr(statement, "value", None)
        if "EntryClass" in names and value is not None:
            yield from (node.id for node in ast.walk(value) if isinstance(node, ast.Name))
        elif isinstance(value, ast.Dict) and any(name.endswith("MODELS") for name in names):
            yield from (str(key.value) for key in value.keys if isinstance(key, ast.Constant))


def _own_model_types(package: Path) -> list[str]:
    """Model types of the engine's own configuration classes."""
    found: dict[str, None] = {}
    for path in sorted(package.rglob("configs/*.py")):
        try:
            found |= dict.fromkeys(_MODEL_TYPE.findall(path.read_text(errors="replace")))
        except OSError:
            continue
    return list(found)
