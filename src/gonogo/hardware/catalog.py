"""The GPUs that gonogo knows, read from gpus.toml, and how a name finds one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from gonogo.hardware.hosts import known_hosts
from gonogo.hardware.types import GPU
from gonogo.problems import OwnProblem, UsageProblem

_GPUS_FILE = Path(__file__).parent / "gpus.toml"
_KINDS = {field.name: str(field.type) for field in fields(GPU)}
_DEFAULTS = {field.name: field.default for field in fields(GPU)}
# What gonogo decided itself; every other field is a fact of the world and needs a source where it is said.
_OURS = {"name", "vendor", "host", "aliases", "sources"}
_MAKERS = re.compile(r"^(?:nvidia|amd|geforce|tesla|instinct)+(?=.)")
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Found:
    """The GPU that a name means, and what had to be assumed for it (None: the name says it all)."""

    gpu: GPU
    assumed: str | None = None


@dataclass(frozen=True)
class Catalog:
    """GPUs in the order of their file, and what names mean.

    ``index`` is over names, aliases and device names, without what people write in several ways. ``families`` maps a
    name that stands for several GPUs, as written, to the one that it is read as.
    """

    gpus: tuple[GPU, ...]
    index: Mapping[str, GPU]
    families: Mapping[str, GPU]

    def find(self, name: str) -> Found:
        """The GPU called ``name``: by family, name, alias or the driver's device name.

        Case, spaces, ``-`` and ``_`` do not count, nor does the maker's name in front. Raises UsageProblem for an
        unknown name, with the known ones that look like it.
        """
        key = _key(name)
        for form in (key, _MAKERS.sub("", key)):
            gpu = next((gpu for family, gpu in self.families.items() if _key(family) == form), None)
            if gpu is not None:
                others = [other.name for other in self.gpus if other != gpu and _key(other.name).startswith(form)]
                also = f" (known too: {', '.join(others)})" if others else ""
                return Found(gpu, f"gpu: {name.strip()} is read as {gpu.name}{also}")
            if form in self.index:
                return Found(self.index[form])
        raise UsageProblem(self._unknown(name, key))

    def _unknown(self, name: str, key: str) -> str:
        shown = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
        names = {gpu.name: None for gpu in self.gpus}
        close: dict[str, None] = {}
        if 0 < len(key) <= _LONGEST_NAME:
            known = {_key(known): known for known in names} | {form: gpu.name for form, gpu in self.index.items()}
            close = {known[form]: None for form in get_close_matches(_MAKERS.sub("", key), known, 8, 0.6)}
        hint = f"did you mean {' or '.join(list(close)[:3])}?" if close else "`gonogo gpus` lists those that are known"
        return f"unknown GPU {shown!r}: {hint}"


def read_catalog(path: Path) -> Catalog:
    """The catalog that a file like gpus.toml describes.

    Raises OwnProblem, naming the GPU and the field, where it is damaged.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        references = table.get("references", {})
        if not isinstance(table["gpu"], list):
            raise _DamagedError("[[gpu]] is no list of tables")
        gpus = tuple(_gpu(row, references) for row in table["gpu"])
        index = _index(gpus)
        by_name = {gpu.name: gpu for gpu in gpus}
        families = {}
        for family, name in table.get("families", {}).items():
            families[family] = by_name[name]
            if index.get(_key(family), by_name[name]) is not by_name[name]:
                raise _DamagedError(f"the family {family!r} is also the name of another GPU")
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise OwnProblem(f"gonogo's own {path.name} is damaged ({what}): install gonogo again") from error
    return Catalog(gpus, index, families)


@cache
def catalog() -> Catalog:
    """The catalog that comes with gonogo."""
    return read_catalog(_GPUS_FILE)


def find_gpu(name: str) -> Found:
    """The GPU called ``name``, and what was assumed to find it. Raises UsageProblem for an unknown name."""
    return catalog().find(name)


def gpu_named(name: str) -> GPU:
    """The GPU called ``name``. Raises UsageProblem for an unknown name, with the known ones that look like it."""
    return find_gpu(name).gpu


def known_gpus() -> tuple[GPU, ...]:
    """Every GPU that gonogo knows, in the order of gpus.toml."""
    return catalog().gpus


class _DamagedError(ValueError):
    """What is wrong with a catalog file."""


def _key(name: str) -> str:
    """``name`` without what people write in several ways: case, spaces, ``-``, ``_``, and ``80G`` for ``80GB``."""
    key = "".join(letter for letter in name.casefold() if letter.isalnum())
    return re.sub(r"(?<=[0-9])g(?=$|pcie|sxm)", "gb", key)


def _index(gpus: tuple[GPU, ...]) -> dict[str, GPU]:
    index: dict[str, GPU] = {}
    for gpu in gpus:
        for said in (gpu.name, gpu.device_name, *gpu.aliases):
            key = _key(said)
            for form in (key, _MAKERS.sub("", key)):
                if not form or index.setdefault(form, gpu) is not gpu:
                    taken = index[form].name if form else "nothing"
                    raise _DamagedError(f"{said!r} of {gpu.name} already means {taken}")
    return index


def _gpu(row: dict[str, Any], references: Mapping[str, str]) -> GPU:
    name = row.get("name", "a GPU without a name")
    values: dict[str, Any] = {}
    for key, value in row.items():
        if key not in _KINDS:
            raise _DamagedError(f"{name}: unknown field {key!r}")
        values[key] = _checked(name, key, value)
    values["sources"] = {key: _source(name, text, references) for key, text in row.get("sources", {}).items()}
    gpu = GPU(**values)
    said = {key for key, value in values.items() if key not in _OURS and value != _DEFAULTS[key]}
    if missing := sorted(said - gpu.sources.keys()):
        raise _DamagedError(f"{name}: no source for {', '.join(missing)}")
    if wrong := sorted(gpu.sources.keys() - set(values)):
        raise _DamagedError(f"{name}: a source for {', '.join(wrong)}, which it does not say")
    _sensible(gpu)
    return gpu


def _checked(name: str, key: str, value: object) -> object:
    kind = _KINDS[key]
    if kind in ("int", "str", "bool", "str | None", "Vendor"):
        wanted: type = int if kind == "int" else bool if kind == "bool" else str
        if type(value) is wanted and not (wanted is int and value < 0):  # type: ignore[operator]
            return value
    elif key == "capability":
        if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
            return tuple(value)
    elif isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(value)
    elif key == "sources" and isinstance(value, dict):
        return value
    raise _DamagedError(f"{name}: {key} is {value!r}, which is no {kind}")


def _source(name: str, text: str, references: Mapping[str, str]) -> str:
    if not text.startswith("@"):
        if not text.strip():
            raise _DamagedError(f"{name}: an empty source")
        return text
    key, _, detail = text[1:].partition(":")
    if key not in references:
        raise _DamagedError(f"{name}: a source refers to {key!r}, which is not there")
    return references[key] + (f":{detail}" if detail else "")


def _sensible(gpu: GPU) -> None:
    """Refuses what cannot be: it would make every dry run on that GPU a lie."""
    problem = None
    needed = (gpu.memory_mib, gpu.capability, gpu.sm_count, gpu.shared_memory_per_block_optin)
    if gpu.vendor not in ("nvidia", "amd", "cpu"):
        problem = f"vendor is {gpu.vendor!r}"
    elif gpu.host not in known_hosts():
        problem = f"host {gpu.host!r} is not in hosts.toml"
    elif gpu.max_per_node < 1:
        problem = "max_per_node is 0"
    elif gpu.torch_memory_mib > gpu.memory_mib:
        problem = "torch sees more memory than the driver"
    elif gpu.vendor != "cpu" and not all(needed):
        problem = "memory_mib, capability, sm_count and shared_memory_per_block_optin are needed"
    elif gpu.machine != known_hosts()[gpu.host].machine:
        problem = f"machine is {gpu.machine}, but its host {gpu.host} is not"
    elif gpu.vendor == "amd" and (not gpu.gfx or gpu.capability != (int(gpu.gfx[3]), int(gpu.gfx[4], 16))):
        problem = f"gfx {gpu.gfx!r} and capability {gpu.capability} do not agree"
    if problem:
        raise _DamagedError(f"{gpu.name}: {problem}")
