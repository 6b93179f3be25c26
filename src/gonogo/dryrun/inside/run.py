"""One dry run, in its own forked process: set the launch's scene, run the engine's main(), tell what happened."""

from __future__ import annotations

import importlib.metadata
import json
import os
import runpy
import sys
import time
import traceback
from typing import Any

from . import chance, furniture, guards, host, logs, network, ownconfig
from .decisions import DECISIONS
from .errors import came_of_a_fall, describe, root_exception
from .files import WORK
from .gpucount import GPUCount
from .processes import Reached, World
from .unknown import MARK, FakeModule, Handed


class Progress:
    """How far the launch has come; adapters move it on."""

    def __init__(self) -> None:
        self.stage = "arguments"
        self.done: list[str] = []

    def enter(self, stage: str) -> None:
        """The stage before is passed."""
        if stage != self.stage:
            self.done.append(self.stage)
            self.stage = stage


def answer_launch(child: Any, request: dict[str, Any], write: int) -> dict[str, Any]:
    """The answer to one request. ``write`` is where an answer goes that cannot wait: a question to the host."""
    progress = Progress()
    before = set(sys.modules)
    _scene(child, request)
    child.hub.ask = lambda repository: _ask(write, repository, before)
    warnings, said = logs.listen_to_log(child.package), logs.listen_to_parser()
    DECISIONS.phase = "run"
    DECISIONS.forced = {**DECISIONS.forced, **(request.get("forced") or {})}
    DECISIONS.hit = {}
    known = set(DECISIONS.rows)
    child.adapter.prepare(progress)
    chance.restart()
    network.restart()
    started = time.process_time()
    answer: dict[str, Any] = {"outcome": "passed", "note": None, "resolved": {}}
    try:
        _enter(child, request)
        answer["note"] = "main() returned"
    except Reached as reached:
        progress.done.append(progress.stage)
        answer["note"] = reached.what
        answer["warnings"] = list(warnings)
        if reached.config is not None:
            answer["resolved"] = _texts(child.adapter.resolved(reached.config), child.files)
            answer["stage"] = progress.stage
            if request.get("backends", True):
                answer["backends"] = _backends(child, reached.config, progress, said)
    except SystemExit as error:
        if error.code in (0, None):
            answer["note"] = "exit 0"
        else:
            answer.update(_told(child, error, said))
    except guards.ForeignCode as error:
        answer.update(outcome="unclear", reason=f"asks to run code of its own: {child.files.clean(str(error))}")
    except BaseException as error:
        answer.update(_told(child, error, said))
    guards.GUARD.on = False
    answer.setdefault("stage", progress.stage)
    answer.update(
        done=progress.done,
        warnings=[child.files.clean(row) for row in answer.get("warnings", warnings)],
        cpu_seconds=round(time.process_time() - started, 4),
        decisions=[row for key, row in DECISIONS.rows.items() if key not in known or row["phase"] == "run"],
        hit=list(DECISIONS.hit),
        wanted=child.hub.wanted,
        touched=sorted(child.hub.touched),
        code=sorted(child.hub.code | child.files.code),
        asked_by={**child.hub.asked_by, **child.files.read_hollow},
        handed=Handed.rows,
        own_configs=list(ownconfig.MADE),
        paths=[path for path, there in child.files.asked.items() if not there],
        commands=World.unknown,
        swallowed=logs.SWALLOWED,
        foreign=[child.files.clean(file) for file in guards.GUARD.foreign],
        denied=guards.GUARD.denied,
        missing={name: where for name, where in child.last.missing.items() if name not in before},
        # A module that warns while it is imported has to warn in every run, so it is not imported ahead.
        new_modules=[name for name in _new(before) if name not in logs.WARNED_ON_IMPORT],
    )
    return answer


def _backends(child: Any, config: Any, progress: Progress, said: list[dict[str, Any]]) -> dict[str, Any]:
    """What the workers come to that this configuration starts."""
    DECISIONS.phase = progress.stage = "backends"
    swallowed = len(logs.SWALLOWED)
    answer: dict[str, Any] = {"outcome": "passed", "note": None}
    try:
        child.adapter.backends(config, progress)
    except Reached as reached:
        answer["note"] = reached.what
    except guards.ForeignCode as error:
        answer.update(outcome="unclear", reason=f"asks to run code of its own: {child.files.clean(str(error))}")
    except BaseException as error:
        answer.update(_told(child, error, said))
        fall = came_of_a_fall(root_exception(error))
        if fall is not None and answer.get("fault") is None:
            answer["fault"] = f"it was raised from {child.files.clean(fall)}"[:300]
    answer["swallowed"] = logs.SWALLOWED[swallowed:]
    del logs.SWALLOWED[swallowed:]
    return answer


def _scene(child: Any, request: dict[str, Any]) -> None:
    """Environment, model facts and limits of this launch."""
    host.set_environment({**child.world["env"], **request.get("env", {})})
    if "count" in request:
        GPUCount.value = request["count"]
    models = request.get("models") or {}
    child.hub.models = models
    child.files.watched = tuple(word.rstrip("/") for word in request.get("watched", ()))
    Handed.watched = tuple(word for word in child.files.watched if "://" in word)
    paths = request.get("paths") or {}
    for path, facts in paths.items():
        child.files.hollow |= furniture.place(child.files.own, path, facts["files"], facts.get("listed"))
    child.files.models = (*paths, *(os.path.normpath(os.path.join(WORK, path)) for path in paths))
    walls = child.world.get("limits") or {}
    guards.limit(
        int(walls.get("cpu_seconds", 120)),
        int(walls.get("memory_bytes", 16 << 30)),
        int(walls.get("file_bytes", 256 << 20)),
        *child.real_limits,
    )
    guards.GUARD.writable = child.files.own
    if walls.get("landlock", True):
        told = [
            path
            for facts in (*models.values(), *(request.get("paths") or {}).values())
            for path in facts["files"].values()
        ]
        guards.confine(child.files.own, [child.folder, *child.code, *told])


def _ask(write: int, repository: str, before: set[str]) -> None:
    """End this run with a question: what are the facts of this model?"""
    text = json.dumps({"outcome": "asks", "repository": repository, "new_modules": _new(before)})
    os.write(write, text.encode())
    os._exit(0)


def _new(before: set[str]) -> list[str]:
    """Modules that this run imported; no stand-ins, whose import may be a decision that another run is to take otherwise."""
    return [
        name
        for name, module in sys.modules.items()
        if name not in before
        and getattr(module, "__spec__", None) is not None
        and not isinstance(module, FakeModule)
        and not name.startswith(("gonogo_", "__main__"))
    ]


def _enter(child: Any, request: dict[str, Any]) -> None:
    """Start the engine as its user would."""
    entry, target, args = request["entry"], request["target"], list(request.get("args", []))
    if entry == "command":
        script = next(iter(importlib.metadata.entry_points(group="console_scripts", name=target)), None)
        if script is None:
            raise RuntimeError(f"this release has no command {target}")
        sys.argv = [f"/usr/local/bin/{target}", *args]
        sys.exit(script.load()())
    if entry == "module":
        sys.argv = [target, *args]
        runpy.run_module(target, run_name="__main__", alter_sys=True)
        return
    sys.argv = ["/work/launch.py"]
    child.adapter.call(target, request.get("positional", []), request.get("arguments", {}))


def _told(child: Any, error: BaseException, said: list[dict[str, Any]]) -> dict[str, Any]:
    """The error in normal form, with paths of the world."""
    told = describe(error, said)
    told["traceback"] = child.files.clean("".join(traceback.format_exception(error)))[-6000:]
    if isinstance(error, SystemExit) and not said:
        told.update(message=_last_words(error), root_message=_last_words(error))
    clean = child.files.clean
    for key in ("message", "root_message", "exit_message"):
        told[key] = clean(told[key])
    told["frames"] = _relative(told["frames"], child)
    told["outer_frames"] = _relative(told["outer_frames"], child)
    if told["add_argument"]:
        told["add_argument"] = _relative([told["add_argument"]], child)[0]
    return told


def _last_words(error: SystemExit) -> str:
    return str(error.code) if isinstance(error.code, str) else f"exit code {error.code}"


def _relative(frames: Any, child: Any) -> list[dict[str, Any]]:
    """Frames with paths from the package's parent folder, and whether they are the engine's."""
    rows = []
    root = child.root.rstrip("/") + "/"
    bases = [
        (root, "engine"),
        (child.world["environment"].rstrip("/") + "/", "library"),
        (os.path.dirname(os.__file__) + "/", "python"),
    ]
    inside = os.path.dirname(os.path.abspath(__file__)) + "/"
    for file, line, function in frames:
        whose, path = "other", child.files.clean(file)
        if file.startswith(inside):
            whose, path = "gonogo", os.path.basename(file)
        for base, name in bases:
            if file.startswith(base):
                whose, path = name, file[len(base) :]
                break
        if whose == "engine" and not path.startswith(child.package + "/"):
            whose = "other"
        rows.append({"path": path, "line": line, "function": function, "whose": whose})
    return rows


def _texts(values: dict[str, Any], files: Any) -> dict[str, str]:
    return {
        name: files.clean(value if isinstance(value, str) else str(value))
        for name, value in values.items()
        if MARK not in str(value)
    }
