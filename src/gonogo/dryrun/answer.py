"""From the child's words to an Outcome: normal form of the error, its id, the stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gonogo.dryrun.backends import fault_in
from gonogo.dryrun.outcome import Error, Outcome, OutcomeKind, Site
from gonogo.dryrun.signature import fault_of
from gonogo.dryrun.world import World
from gonogo.source.ids import error_id, template_of
from gonogo.source.raise_sites import raise_site_at


@dataclass(frozen=True)
class Answer:
    """The child's ``words`` on a launch; what the outcome ``depends`` on; models ``asked`` for; those ``missing`` facts.

    ``assumed`` says what stood in for facts that the engine asked for. ``workers`` is what the stage ``backends``
    depends on.
    """

    words: dict[str, Any]
    depends: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()


def outcome_of(found: Answer, world: World) -> Outcome:
    """The outcome that an answer stands for: ``unclear`` where a stand-in or a missing fact was in the way."""
    outcome = _configured(found.words, found.depends, world)
    workers = found.words.get("backends")
    if outcome.kind != "passed" or not workers:
        return outcome
    fault = fault_in(workers)
    if fault is not None:
        return _with_backends(outcome, "unclear", f"backends not looked at: {fault}")
    if found.workers:
        # Whichever way it went: a stage that hangs on stand-ins is one that nobody has looked at.
        return _with_backends(outcome, "unclear", f"backends not looked at: they depend on {_some(found.workers)}")
    if workers["outcome"] == "passed":
        return _with_backends(outcome, "passed", outcome.reason)
    error = error_of(workers, world)
    return replace(_with_backends(outcome, "refused", None), kind="refused", error=error, resolved={})


def _with_backends(outcome: Outcome, how: str, reason: str | None) -> Outcome:
    return replace(outcome, stages={**outcome.stages, "backends": how}, reason=reason)


def _some(names: tuple[str, ...]) -> str:
    return "; ".join(names[:3]) + (f"; and {len(names) - 3} more" if len(names) > 3 else "")


def _configured(answer: dict[str, Any], depends: tuple[str, ...], world: World) -> Outcome:
    """The outcome as far as the configuration."""
    warnings = tuple(answer.get("warnings", ()))
    done = dict.fromkeys(answer.get("done", ()), "passed")
    fault = fault_of(answer)
    if fault is None and depends:
        fault = f"it depends on what cannot be known here: {'; '.join(depends)}"
    error = None if answer["outcome"] in ("passed", "unclear") else error_of(answer, world)
    kind: OutcomeKind = "unclear" if fault is not None else answer["outcome"]
    stages = {**done, **({answer["stage"]: kind} if answer.get("stage") else {})}
    reason = fault if fault is not None else _why(answer)
    return Outcome(
        kind, reason, stages, error, depends, warnings, answer.get("resolved", {}) if kind == "passed" else {}
    )


def _why(answer: dict[str, Any]) -> str | None:
    if answer["outcome"] == "crashed":
        return "the engine fell over instead of refusing: a bug of the engine"
    if answer["outcome"] == "passed" and answer.get("note") == "exit 0":
        return "the command ends by itself with exit 0: it starts no server"
    return None


def error_of(answer: dict[str, Any], world: World) -> Error:
    """The error in the normal form of the book."""
    frames: list[dict[str, Any]] = answer["frames"]
    engine = [frame for frame in frames if frame["whose"] == "engine"]
    engine = engine or [frame for frame in answer.get("outer_frames", ()) if frame["whose"] == "engine"]
    place = answer.get("add_argument") if answer["type"] == "ArgumentError" else None
    place = place if place and place["whose"] == "engine" else engine[-1] if engine else None
    site = Site(place["path"], place["line"], place["function"]) if place else None
    last = frames[-1] if frames else None
    spoke = None
    if last is not None and last["whose"] == "engine":
        spoke = raise_site_at(world.release.root / last["path"], last["line"])
    template = template_of(answer["type"], answer["message"], spoke)
    identity = error_id(world.release.engine, answer["type"], template)
    # What a flag's type fell over lies under the parser's error, which is the one that a user is told.
    around: list[str] = answer["wrapped_by"]
    around = around[around.index(answer["type"]) + 1 :] if answer["type"] in around else around
    return Error(identity, answer["type"], tuple(around), answer["message"], site)
