"""What a dry run found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

OutcomeKind = Literal["passed", "refused", "crashed", "unclear"]


@dataclass(frozen=True)
class Site:
    """A place in source: ``path`` from the package's parent folder (``vllm/config/vllm.py``), ``function`` as qualname."""

    path: str
    line: int
    function: str


@dataclass(frozen=True)
class Error:
    """An exception in normal form: the innermost one, type without module, message as that exception carries it.

    ``id`` is 16 hex digits over engine, type and message template (see gonogo.source.ids). ``wrapped_by`` names the
    exceptions that stood around it, innermost first.
    """

    id: str
    type: str
    wrapped_by: tuple[str, ...]
    message: str
    site: Site | None


@dataclass(frozen=True)
class Outcome:
    """The answer of one dry run in one world.

    ``reason`` says why an outcome is ``unclear`` (or, for ``crashed``, that it is the engine's own bug). ``stages`` maps
    each stage that was entered to how it ended. ``depends_on`` names what the engine decided on that gonogo cannot know
    and that changes the outcome. ``resolved`` holds the values the engine settled on, as text.
    """

    kind: OutcomeKind
    reason: str | None = None
    stages: dict[str, str] = field(default_factory=dict)
    error: Error | None = None
    depends_on: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    resolved: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DryRun:
    """A dry run's outcome, the models and paths that the engine asked for, and those of them whose facts are missing.

    ``assumed`` says what stood in for facts that the engine asked for. ``lacks`` are import names of packages that a
    refusal speaks of and that this world does not have.
    """

    outcome: Outcome
    asked: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
