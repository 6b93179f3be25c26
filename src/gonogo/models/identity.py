"""A model's facts as one hash, for the keys of caches."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from gonogo.models.types import ModelFacts
from gonogo.problems import OwnProblem

_seen: dict[tuple[str, int, int], str] = {}  # path, modified at (ns), bytes → sha256 of the content


def identity(facts: ModelFacts) -> str:
    """64 hex digits over all of ``facts`` that a dry run can see: name, files and their contents, which others exist.

    Not over where the files stand or came from. A file's content is read once per process and state of the file.
    OwnProblem: a file that was there is gone.
    """
    shown = [
        facts.name,
        sorted((name, _content(path)) for name, path in facts.files.items()),
        None if facts.listed is None else sorted(facts.listed),
        sorted(facts.absent),
        facts.stand_in,
        facts.weights and [facts.weights.parameters, facts.weights.bytes, facts.weights.bytes_without_mtp],
    ]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()


def _content(path: Path) -> str:
    try:
        state = path.stat()
        key = (str(path), state.st_mtime_ns, state.st_size)
        if key not in _seen:
            _seen[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise OwnProblem(f"the model fact {path} can't be read any more: {error.strerror}; run again") from None
    return _seen[key]
