"""Model facts made fuller: a refusal must not come from a file that a real model has and its facts here lack."""

from __future__ import annotations

from typing import Any

from gonogo.dryrun.tokenizer import has_tokenizer


def lacking(request: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """The models and paths of a request whose facts are incomplete and have no tokenizer, as far as the engine asked for more."""
    wanted = tuple(answer.get("wanted", ()))
    return [
        name
        for kind in ("models", "paths")
        for name, facts in request[kind].items()
        if facts.get("listed") is None
        and facts.get("known", True)
        and not has_tokenizer(facts["files"])
        and facts["files"]
        and (kind == "paths" or any(want.startswith((f"{name}/", f"{name} ")) for want in wanted))
    ]


def with_tokenizer(request: dict[str, Any], names: list[str], tokenizer: dict[str, str]) -> dict[str, Any]:
    """The request with a stand-in tokenizer for these models."""
    fuller = dict(request)
    for kind in ("models", "paths"):
        fuller[kind] = {
            name: {
                **facts,
                "files": {**tokenizer, **facts["files"]},
                "assumed": sorted(set(tokenizer) - set(facts["files"])),
            }
            if name in names
            else facts
            for name, facts in request[kind].items()
        }
    return fuller


LIST = "(its list of files)"


def with_lists(request: dict[str, Any]) -> dict[str, Any]:
    """The request with a list of files for the models that have none: those that are here, and weights."""
    models = {
        name: {**facts, "listed": sorted({*facts["files"], "model.safetensors"})}
        if facts.get("listed") is None and facts.get("known", True)
        else facts
        for name, facts in request["models"].items()
    }
    return {**request, "models": models}


def hangs_on_missing(answer: dict[str, Any]) -> tuple[str, ...]:
    """Files of models that are not here and that the very function asked for which then refused."""
    frames = [frame for frame in answer.get("frames", ()) if frame["whose"] == "engine"]
    if answer["outcome"] == "passed" or not frames:
        return ()
    spoke = f"{frames[-1]['path']}:{frames[-1]['function']}"
    return tuple(sorted(want for want, stack in answer.get("asked_by", {}).items() if spoke in stack))
