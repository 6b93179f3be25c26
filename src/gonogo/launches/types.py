"""A launch: one server start, as somebody wrote it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Entry = Literal["command", "module", "call"]


@dataclass(frozen=True)
class Source:
    """Where a launch stands: file and line (1 is the first); both None for one given on the command line."""

    path: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Launch:
    """One start of one engine.

    ``argv`` is the launch as given, word by word (one word for a Python expression); ``env`` its environment variables.
    ``entry`` says how the engine is entered and ``target`` where: ``command`` runs a console script (``vllm``,
    ``sglang``), ``module`` runs ``python -m target``, ``call`` calls the class ``target`` (``LLM``) with ``arguments``.
    ``args`` are the words behind the program. ``release`` is what the launch itself says of it: ``vllm==0.33.0`` from an
    image tag, else None; ``image`` is the image as written.
    """

    engine: str
    argv: tuple[str, ...]
    entry: Entry
    target: str
    args: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    release: str | None = None
    image: str | None = None
    source: Source = Source()
