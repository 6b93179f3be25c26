"""The typed answer of a check; its JSON form is the contract ``gonogo.check/1``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from gonogo.dryrun.outcome import Error, OutcomeKind
from gonogo.launches.types import Source

VerdictKind = Literal["GO", "NO-GO", "HOLD"]
ReleaseFrom = Literal["option", "image", "installed", "newest"]


@dataclass(frozen=True)
class Because:
    """One thing that decides a refusal, with its value and whether the user gave it or the engine resolved it."""

    # How pydantic learns that the JSON key is ``from``, without an import of pydantic here, which is slow.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"alias_generator": lambda name: name.removesuffix("_")}

    kind: Literal["flag", "env", "model", "hardware"]
    name: str
    value: Any
    from_: Literal["user", "resolved"]


@dataclass(frozen=True)
class WorldResult:
    """How the launch fared in one world."""

    release: str
    release_from: ReleaseFrom
    gpu: str
    count: int
    nodes: int
    model: str | None
    outcome: OutcomeKind
    reason: str | None = None
    stages: dict[str, str] = field(default_factory=dict)
    error: Error | None = None
    depends_on: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    resolved: dict[str, str] = field(default_factory=dict)
    because: tuple[Because, ...] = ()


@dataclass(frozen=True)
class LaunchResult:
    """The verdict on one launch, over all worlds that the user left open."""

    source: Source
    argv: tuple[str, ...]
    env: dict[str, str]
    engine: str
    verdict: VerdictKind
    decided_by: str | None
    assumed: tuple[str, ...]
    not_checked: tuple[str, ...]
    worlds: tuple[WorldResult, ...]
    fixes: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """The verdict on all launches of one check: the worst of NO-GO, HOLD, GO."""

    schema: Literal["gonogo.check/1"] = field(default="gonogo.check/1", kw_only=True)
    verdict: VerdictKind
    launches: tuple[LaunchResult, ...]
