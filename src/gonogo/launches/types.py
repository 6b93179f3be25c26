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

    ``argv`` is the launch as given, word by word (one word for a Python expression), without the ``NAME=value`` words
    before it; ``env`` is what the engine's process gets of environment variables from the launch itself, in a
    container those of the container. ``entry`` says how the engine is entered and ``target`` where: ``command`` runs
    a console script (``vllm``, ``sglang``), ``module`` runs ``python -m target``, ``call`` calls the class ``target``
    (``LLM``) with ``arguments``. ``args`` are the words behind the console script (``serve`` first) or the module.
    ``release`` is what the launch itself says of it: ``vllm==0.33.0`` from an image tag, else None; ``image`` is the
    image as written.

    ``arguments`` and ``positional`` are what a ``call`` was given by name and in order: plain JSON values (a tuple is
    a list), None in the place of a positional one that could not be read. ``unread`` names what could not be read and
    may decide the start (an argument that is not a literal, a shell variable without a value): with it, no verdict is
    sure. ``unknown_env`` are environment variables that the launch passes on without saying their value; they are not
    in ``env``. ``gpu_count`` is how many GPUs the launch's container is given, None where that is open (no container,
    all of them). ``mounts`` maps a path inside the container to the path outside that stands behind it. ``folder`` is
    the working folder that the launch itself chooses, as written. ``notes`` are sentences for the user: what was
    assumed or left out.
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
    positional: tuple[Any, ...] = ()
    unread: tuple[str, ...] = ()
    unknown_env: tuple[str, ...] = ()
    gpu_count: int | None = None
    mounts: dict[str, str] = field(default_factory=dict)
    folder: str | None = None
    notes: tuple[str, ...] = ()
