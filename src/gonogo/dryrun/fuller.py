"""Model facts made fuller: a refusal must not come from a file that a real model has and its facts here lack."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from gonogo.dryrun.store import write_bytes


def lacking(request: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """The models and paths of a request whose facts are incomplete, as far as the engine asked for more."""
    wanted = tuple(answer.get("wanted", ()))
    return [
        name
        for kind in ("models", "paths")
        for name, facts in request[kind].items()
        if facts.get("listed") is None
        and facts.get("known", True)
        and facts["files"]
        and (kind == "paths" or any(want.startswith((f"{name}/", f"{name} ")) for want in wanted))
    ]


def with_files(request: dict[str, Any], stand_ins: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The request with these files besides: name of a model or path → file name → file."""
    fuller = dict(request)
    for kind in ("models", "paths"):
        fuller[kind] = {
            name: {
                **facts,
                "files": {**stand_ins[name], **facts["files"]},
                "assumed": sorted({*facts.get("assumed", ()), *stand_ins[name]} - set(facts["files"])),
            }
            if name in stand_ins
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


#: Files without content, each by the end of its name: a JSON object without members, a safetensors file without tensors.
EMPTY = {".json": b"{}", ".safetensors": len(b"{}").to_bytes(8, "little") + b"{}"}


def empty_files(folder: Path) -> dict[str, str]:
    """The end of a name → a file without content, in ``folder``."""
    found: dict[str, str] = {}
    for end, content in EMPTY.items():
        place = folder / f"empty{end}"
        if not place.exists():
            write_bytes(place, content)
        if place.exists():
            found[end] = str(place)
    return found


def with_empty(
    request: dict[str, Any], wanted: Iterable[str], empty: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """The request with one of the ``empty`` files (by the end of its name) for each ``wanted`` one, named ``MODEL/FILE``.

    Second, those of the wanted ones that it has now.
    """
    files: dict[str, dict[str, str]] = {}
    there: list[str] = []
    for name, facts in request["models"].items():
        for want in wanted:
            file = want.removeprefix(f"{name}/")
            end = PurePosixPath(file).suffix
            if file != want and end in empty and file not in facts["files"]:
                files.setdefault(name, {})[file] = empty[end]
                there.append(want)
    return with_files(request, files), there


def hangs_on_missing(answer: dict[str, Any]) -> tuple[str, ...]:
    """Files of models that are not here and that the very function asked for which then refused."""
    frames = [frame for frame in answer.get("frames", ()) if frame["whose"] == "engine"]
    if answer["outcome"] == "passed" or not frames:
        return ()
    spoke = f"{frames[-1]['path']}:{frames[-1]['function']}"
    return tuple(sorted(want for want, stack in answer.get("asked_by", {}).items() if spoke in stack))
