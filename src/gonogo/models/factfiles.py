"""Which files of a model are facts, and what a folder of them says."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gonogo.models.types import ModelFacts, Origin, WeightFacts
from gonogo.problems import OwnProblem, UsageProblem

LARGEST_CONFIG = 10 * 2**20
LARGEST_FACT = 64 * 2**20  # the largest tokenizer.json in use has some 35 MB
MOST_NESTED = 32
_MOST_LISTED = 20_000

# What engines and transformers ask a repository for besides weights and code; `*config*.json` alone is a dozen names.
_FACT = re.compile(
    r"""
      [^/]*config[^/]*\.json | (?:tokenizer|tekken|special_tokens_map|added_tokens|modules|model_index|params
                                |quant_model_description|SYSTEM_PROMPT)\.(?:json|txt)
    | [^/]*\.model(?:\.v\w+)? | [^/]*\.tiktoken | vocab\.\w+ | merges\.txt
    | chat_template(?:\.\w+)+ | [^/]*\.jinja | additional_chat_templates/[^/]*\.jinja
    | [^/]*\.index\.json
    | [^/.][^/]*/(?:scheduler_)?config\.json
    """,
    re.VERBOSE,
)
_WEIGHT = re.compile(r"(?:.*/)?(?:[^/]+\.(?:safetensors|gguf|pth|pt)|[^/]*model[^/]*\.bin)")
# One of these makes a folder a model, a tokenizer or an adapter; others (vocab.txt, modules.json) stand elsewhere too.
TELLING = frozenset(
    ("config.json", "params.json", "adapter_config.json", "model_index.json", "tokenizer_config.json", "tokenizer.json")
)
# Keys of the weight facts that gonogo's own models folders hold; the file name collides with Mistral's params.json.
_WEIGHT_KEYS = frozenset(("parameters_total", "weight_bytes"))
_OWN_KEYS = _WEIGHT_KEYS | {
    "weight_bytes_without_mtp", "parameters_mtp", "parameters_vision", "parameters_by_kind", "source",
}  # fmt: skip


def is_fact(name: str) -> bool:
    """Whether the file ``name`` (inside a model's repository) is a fact: small, and neither weights nor code."""
    return bool(_FACT.fullmatch(name))


def is_weight(name: str) -> bool:
    """Whether the file ``name`` holds weights, by its name alone."""
    return bool(_WEIGHT.fullmatch(name))


def is_telling(names: frozenset[str]) -> bool:
    """Whether a folder or repository with the files ``names`` is a model, a tokenizer or an adapter."""
    return not names.isdisjoint(TELLING) or any(is_weight(name) for name in names if "/" not in name)


def largest(name: str) -> int:
    """The most bytes that a fact file of this name may have."""
    return LARGEST_CONFIG if name == "config.json" else LARGEST_FACT


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``; UsageProblem where it is broken, no object, too large or can't be read."""
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            raise UsageProblem(f"{path} is larger than {LARGEST_CONFIG // 2**20} MB: that is no model's {path.name}")
        raw = path.read_bytes()
    except OSError as error:
        raise UsageProblem(f"{path} can't be read: {error.strerror}") from None
    if b"\0" in raw:
        raise UsageProblem(f"{path} holds NUL bytes: it is not JSON")
    try:
        found = json.loads(raw.decode())
    except UnicodeDecodeError:
        raise UsageProblem(f"{path} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise UsageProblem(f"{path} is broken JSON: {error.msg} in line {error.lineno}") from None
    except (ValueError, RecursionError):
        raise UsageProblem(f"{path} is JSON that Python can't read: nested too deep, or a number too long") from None
    if not isinstance(found, dict):
        raise UsageProblem(f"{path} is JSON but no object: a {path.name} starts with {{")
    return found


def check_config(facts: ModelFacts) -> ModelFacts:
    """``facts`` as they are; UsageProblem where their config.json is not a JSON object."""
    if "config.json" in facts.files:
        read_object(facts.files["config.json"])
    return facts


def read_folder(folder: Path, name: str, origin: Origin, cache: Path) -> ModelFacts | None:
    """The facts that a folder holds, None where it holds none.

    The full list of files is taken as known where the folder has weights. ``cache`` keeps what has to be written: a
    params.json without the weight facts that gonogo's models folders mix into it. UsageProblem: a broken config.json
    or params.json. OSError: the folder can't be read.
    """
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    if not is_telling(frozenset(entry.name for entry in entries)):
        return None
    files = _fact_files(entries)
    listed = _all_files(folder) if any(is_weight(entry.name) for entry in entries) else None
    weights = None
    if "params.json" in files:
        params = read_object(files["params.json"])
        if params.keys() >= _WEIGHT_KEYS:
            weights = _weights(params)
            theirs = {key: value for key, value in params.items() if key not in _OWN_KEYS}
            if {"dim", "n_layers"} <= theirs.keys():
                files["params.json"] = _kept(json.dumps(theirs, indent=1), cache / "params")
            else:
                del files["params.json"]
                listed = listed and listed - {"params.json"}
    if not is_telling(frozenset(files) | (listed or frozenset())):
        return None
    return check_config(ModelFacts(name=name, origin=origin, files=files, listed=listed, weights=weights))


def _fact_files(entries: Iterable[os.DirEntry[str]]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    nested: dict[str, Path] = {}
    for entry in entries:
        if entry.is_dir():
            if not entry.name.startswith("."):
                nested |= _facts_below(Path(entry.path), entry.name)
        elif is_fact(entry.name) and _is_small(entry, entry.name):
            found[entry.name] = Path(entry.path)
    return found | dict(list(nested.items())[:MOST_NESTED])


def _facts_below(folder: Path, name: str) -> dict[str, Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return {}
    inside = ((f"{name}/{entry.name}", entry) for entry in entries)
    return {path: Path(entry.path) for path, entry in inside if is_fact(path) and _is_small(entry, path)}


def _is_small(entry: os.DirEntry[str], name: str) -> bool:
    # A named pipe or a device behind a link would be read for ever, so only regular files count. A config.json of any
    # size does: what is wrong with it is said by read_object.
    try:
        return entry.is_file() and (name == "config.json" or entry.stat().st_size <= LARGEST_FACT)
    except OSError:
        return False


def _all_files(folder: Path) -> frozenset[str] | None:
    found: set[str] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(place).relative_to(folder)
        found.update((below / name).as_posix() for name in names)
        if len(found) > _MOST_LISTED:
            return None
    return frozenset(found)


def _weights(params: dict[str, Any]) -> WeightFacts:
    def count(key: str) -> int | None:
        value = params.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    return WeightFacts(
        parameters=count("parameters_total"),
        bytes=count("weight_bytes"),
        bytes_without_mtp=count("weight_bytes_without_mtp"),
        source=str(params.get("source") or ""),
    )


def _kept(text: str, folder: Path) -> Path:
    raw = text.encode()
    path = folder / f"{hashlib.sha256(raw).hexdigest()[:32]}.json"
    if not path.is_file():
        write_atomically(path, raw)
    return path


def write_atomically(path: Path, raw: bytes) -> None:
    """Write ``raw`` to ``path`` so that no reader ever sees half of it; OwnProblem where the disk will not have it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(raw)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OwnProblem(f"can't write to the cache {path.parent}: {error.strerror}; free some space") from None
