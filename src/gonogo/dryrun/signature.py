"""What counts as the same outcome of two dry runs, and why an answer of the child may be our own fault."""

from __future__ import annotations

from typing import Any


def signature(answer: dict[str, Any]) -> tuple[Any, ...]:
    """Outcome, error and site: what a decision must change for the outcome to depend on it."""
    frames = answer.get("frames") or []
    last = frames[-1] if frames else {}
    return (
        answer["outcome"],
        answer.get("root_type"),
        answer.get("root_message"),
        last.get("path"),
        last.get("line"),
        answer.get("note") if answer["outcome"] == "passed" else None,
    )


def fault_of(answer: dict[str, Any]) -> str | None:
    """Why this answer is not the engine's own; None where it is."""
    if answer["outcome"] == "unclear":
        return str(answer.get("reason") or "the dry run did not end")
    if answer.get("foreign"):
        return f"the launch brings code of its own ({', '.join(answer['foreign'][:3])}), which a dry run never executes"
    if answer.get("code"):
        return f"the engine asks for the model's own code ({', '.join(answer['code'][:3])}), which a dry run never executes"
    if answer["outcome"] == "crashed" and answer.get("own_configs"):
        told = f"{answer.get('root_type')}: {answer.get('root_message')}"
        return f"the engine fell over a stand-in for the model's own configuration class: {told}"[:400]
    if answer.get("denied"):
        return f"the engine tried what a dry run does not allow: {answer['denied'][0]}"
    if answer["outcome"] != "passed" and answer.get("swallowed"):
        return str(answer["swallowed"][0])
    if answer["outcome"] != "passed" and answer.get("handed"):
        word, package = next(iter(answer["handed"].items()))
        return f"{word} was handed to a stand-in ({package}), which fetches nothing"
    fault = answer.get("fault")
    return None if fault is None else f"{fault}: {answer.get('root_message', '')}"[:600]
