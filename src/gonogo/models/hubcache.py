"""The hub cache on disk, read without huggingface_hub: ``models--ORG--NAME/{refs,snapshots,trees,.no_exist}``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from gonogo.models.factfiles import check_config, is_fact, is_telling, is_weight, largest
from gonogo.models.types import ModelFacts

_LONGEST_COMMIT = 64  # hex digits of a SHA-256; today's are SHA-1


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the hub cache is, by the variables that huggingface_hub reads. It may not exist."""
    home = environ.get("HF_HOME") or str(Path(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    chosen = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE") or str(Path(home) / "hub")
    return Path(os.path.expandvars(chosen)).expanduser()


def is_offline(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the user told Hugging Face's libraries to stay off the network."""
    said = environ.get("HF_HUB_OFFLINE") or environ.get("TRANSFORMERS_OFFLINE") or ""
    return said.upper() in ("1", "ON", "YES", "TRUE")


def read(folder: Path, name: str, revision: str | None = None) -> ModelFacts | None:
    """The facts that the hub cache ``folder`` holds of the repository ``name``, None where it holds none.

    ``revision`` is a branch, a tag or a commit; None: main. UsageProblem: a broken config.json.
    """
    repository = _repository(folder, name)
    if repository is None:
        return None
    commit = _commit(repository, revision or "main")
    snapshot = repository / "snapshots" / commit
    if not commit or not snapshot.is_dir():
        return None
    names = _names(snapshot)
    files = {name: snapshot / name for name in names if is_fact(name) and _is_small(snapshot / name, name)}
    listed = _tree(repository, commit)
    if listed is None and ".gitattributes" in names and any(is_weight(name) for name in names):
        # Engines fetch the files that they need one by one; only who fetches the whole repository gets this one.
        listed = names
    absent = _names(repository / ".no_exist" / commit) - names if listed is None else frozenset[str]()
    if not is_telling(frozenset(files) | (listed or frozenset())):
        return None
    return check_config(ModelFacts(name=name, origin="hub cache", files=files, listed=listed, absent=absent))


def is_complete(facts: ModelFacts) -> bool:
    """Whether the hub could add nothing to ``facts``: all files are known, and each fact among them is here."""
    return facts.listed is not None and all(name in facts.files for name in facts.listed if is_fact(name))


def _repository(folder: Path, name: str) -> Path | None:
    wanted = "models--" + name.replace("/", "--")
    if (folder / wanted).is_dir():
        return folder / wanted
    # The hub takes a name in any case and answers with the right one, under which the cache then holds it.
    try:
        found = sorted(entry.name for entry in os.scandir(folder) if entry.name.lower() == wanted.lower())
    except OSError:
        return None
    return folder / found[0] if found else None


def _commit(repository: Path, revision: str) -> str:
    if revision in ("", ".") or revision.startswith("/") or ".." in revision.split("/") or "\0" in revision:
        return ""
    try:
        commit = (repository / "refs" / revision).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        commit = revision
    return commit if commit.isalnum() and len(commit) <= _LONGEST_COMMIT else ""


def _names(folder: Path) -> frozenset[str]:
    return frozenset(
        (Path(place).relative_to(folder) / name).as_posix() for place, _, names in os.walk(folder) for name in names
    )


def _is_small(path: Path, name: str) -> bool:
    try:
        return path.is_file() and (name == "config.json" or path.stat().st_size <= largest(name))
    except OSError:
        return False


def _tree(repository: Path, commit: str) -> frozenset[str] | None:
    try:
        found = json.loads((repository / "trees" / f"{commit}.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    files = found.get("files") if isinstance(found, dict) and found.get("format_version") == 1 else None
    return frozenset(files) if isinstance(files, dict) else None
