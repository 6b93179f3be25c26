"""The stage ``backends`` of an answer: whether what the workers came to can be believed.

Workers build the model's layers on stand-ins, and decide many things on values that nobody can know. All decisions are
answered the other way in one more dry run; only where that changes something they are told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gonogo.dryrun.signature import fault_of, signature

_MOST_RUNS = 8

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def was_looked_at(answer: dict[str, Any]) -> bool:
    """Did the dry run come as far as the workers, and did nothing of gonogo's own stop them?"""
    return answer["outcome"] == "passed" and bool(answer.get("backends")) and fault_in(answer["backends"]) is None


def fault_in(workers: dict[str, Any]) -> str | None:
    """Why what the workers came to is not the engine's own word; None where it is.

    An engine that falls over stand-ins tells nothing: only what it refuses in its own words is an answer.
    """
    if workers["outcome"] == "crashed":
        return f"the engine fell over a stand-in: {workers.get('root_type')}: {workers.get('root_message')}"[:400]
    return fault_of(workers)


def depends_on(answer: dict[str, Any], request: dict[str, Any], ask: Ask) -> tuple[str, ...]:
    """The decisions that change what the workers came to, as far as they can be told apart in a few dry runs."""
    usual = signature(answer["backends"])
    rows = [row for row in answer["decisions"] if row["phase"] == "backends" and row["usual"] != row["other"]]
    found: list[dict[str, Any]] = []
    groups, runs = [rows] if rows else [], 0
    while groups:
        group = groups.pop()
        if runs >= _MOST_RUNS:
            found += group
            continue
        runs += 1
        other = ask({**request, "forced": {**request.get("forced", {}), **{row["key"]: row["other"] for row in group}}})
        if other["outcome"] == "passed" and signature(other["backends"]) == usual:
            continue
        if len(group) == 1:
            found += group
            continue
        half = len(group) // 2
        groups += [group[half:], group[:half]]
    return tuple(f"{row['kind']} {row['name']} at {row['path']}:{row['line']}" for row in found)
