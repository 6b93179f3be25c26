"""The child: builds a world, loads an engine into it once, and forks for every dry run that the host asks for.

Messages are JSON, one a line. The host writes a description of the world first, then requests on stdin; answers go out on
the descriptor that was stdout. The child is single-threaded before it forks and ends when its stdin does.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from typing import Any, NoReturn

from . import (
    chance,
    devices,
    faketorch,
    faketriton,
    files,
    furniture,
    gpucount,
    guards,
    host,
    hub,
    learning,
    logs,
    modules,
    natives,
    network,
    ownconfig,
    processes,
    sources,
    unknown,
    withheld,
)
from .decisions import DECISIONS, HERE
from .run import answer_launch

_fork, _pipe, _killpg, _waitpid, _setpgid = os.fork, os.pipe, os.killpg, os.waitpid, os.setpgid
_getpid, _getppid = os.getpid, os.getppid
_clock = time.monotonic


class Child:
    """One world with one engine loaded."""

    def __init__(self, world: dict[str, Any]) -> None:
        self.world = world
        self.folder: str = world["folder"]
        self.shared = os.path.join(self.folder, "world")
        self.boot = os.path.join(self.folder, "boot")
        self.root: str = world["release_root"]
        self.package: str = world["package"]
        self.learned: list[str] = []
        self.left_alone: set[str] = set()
        self.failed: dict[str, Any] | None = None
        self.walls: list[str] = []
        self.running: dict[int, Run] = {}
        self.host: int = world["host_process"]
        self.real_limits = resource.setrlimit, resource.getrlimit

    def build(self) -> None:
        """Put the world in place of the machine; nothing of the engine has run yet."""
        world = self.world
        DECISIONS.forced = dict(world.get("forced") or {})
        hardware = withheld.withhold(world["hardware"], world["withheld"])
        gpucount.GPUCount.value = hardware["count"]
        tools = devices.tools(hardware)
        furniture.furnish(self.shared, hardware, [*tools, *world.get("tools", [])])
        furniture.make_own(self.boot, None)
        facts = os.path.join(self.folder, "site")
        furniture.install_distributions(facts, world["distributions"], world["modules"], self._entry_points())
        stdlib = [os.path.abspath(entry) for entry in sys.path]
        code = [self.root, world["environment"], facts, HERE.rstrip("/"), os.path.dirname(world["adapter"])]
        # The packages of the machine's Python stand inside its standard library, and are none of the world's.
        hidden = [f"{entry}/{name}-packages" for entry in stdlib for name in ("site", "dist")]
        hidden = [folder for folder in hidden if not any(files.below(each, [folder]) for each in code)]
        hidden += [os.path.join(self.root, name) for name in world["hidden"]]
        hidden += [os.path.join(world["environment"], name) for name in world["unlisted"]]
        guards.watch([*code, *stdlib], hidden)
        self.walls = guards.go_alone()
        self.code = [*code, *stdlib]
        self.files = files.Files(
            self.shared, self.boot, [self.folder, *self.code], hidden, hardware["host"]["shm_bytes"]
        )
        sys.path[:] = [facts, self.root, *sys.path, world["environment"]]
        sys.dont_write_bytecode = False
        host.install(hardware["host"])
        host.locale_and_encoding()
        chance.install()
        sources.install()
        network.install(hardware["host"])
        processes.install({**{os.path.basename(name): _no_answer for name in world.get("tools", [])}, **tools})
        self.hub = hub.Hub(_not_yet)
        DECISIONS.roots = [self.root.rstrip("/") + "/"]
        self.files.empty = frozenset(os.path.join(self.root, name) for name in world["empty"])
        self._modules(hardware)
        files.install(self.files)
        natives.install(self.files, guards.GUARD.is_ours)
        os.chdir(self.boot + files.WORK)
        host.set_environment(world["env"])
        host.watch_environment()

    def _entry_points(self) -> str:
        """The text of the release's own entry points: its metadata stands beside the package."""
        for name in sorted(os.listdir(self.root)):
            if name.endswith((".dist-info", ".egg-info")):
                path = os.path.join(self.root, name, "entry_points.txt")
                if os.path.exists(path):
                    with open(path) as file:
                        return file.read()
        return ""

    def _modules(self, hardware: dict[str, Any]) -> None:
        described: dict[str, Any] = faketorch.describe(hardware, self.world["versions"])
        described.update(faketriton.describe(hardware))
        for name in self.world.get("nvml", ["pynvml"]):
            described[name] = devices.describe_nvml(hardware)
        described["amdsmi"] = devices.describe_amdsmi(hardware)
        finder = modules.FakeFinder(
            self.world["faked"], self.world["absent"], described, _known_modules(), self.world.get("texts")
        )
        unknown.FakeModule.described = frozenset(described)
        after = {
            "transformers.dynamic_module_utils": ownconfig.after_dynamic_modules,
            "zmq": network.after_zmq,
            "psutil": host.after_psutil(hardware["host"]),
            "httpx": hub.after_httpx(self.hub),
            "httpx2": hub.after_httpx(self.hub),
            "requests.adapters": hub.after_requests(self.hub),
            "tokenizers": natives.after_tokenizers(self.files),
            "sentencepiece": natives.after_sentencepiece(self.files),
        }
        self.last = modules.LastFinder()
        sys.meta_path[:] = [
            modules.Hiding(each, finder.absent) if getattr(each, "__name__", "") == "PathFinder" else each
            for each in sys.meta_path
        ]
        sys.meta_path[:0] = [finder, modules.AfterImport(after)]
        sys.meta_path.append(self.last)

    def load(self) -> None:
        """Import the engine's start-up code. What goes wrong here is every launch's outcome."""
        root = self.root.rstrip("/") + "/"
        logs.remember_arguments(lambda file: file.startswith(root))
        guards.GUARD.on = True
        spec = importlib.util.spec_from_file_location("gonogo_engine", self.world["adapter"])
        assert spec is not None
        assert spec.loader is not None
        self.adapter: Any = importlib.util.module_from_spec(spec)
        sys.modules["gonogo_engine"] = self.adapter
        spec.loader.exec_module(self.adapter)
        for name in self.world.get("preload", []):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as missing:
                if missing.name is None or not name.startswith(missing.name):
                    raise
        host.ReadNames.on = False

    def end_with_host(self) -> None:
        """Leave nothing behind when the host is killed, not even while the engine is being loaded."""
        signal.signal(signal.SIGTERM, self._host_ended)
        guards.end_with_parent(signal.SIGTERM)
        self._host_ended()

    def _host_ended(self, *_signal: Any) -> None:
        # The signal comes too when the thread ends that started this process; its process may live on.
        if _getppid() != self.host:
            self.leave()

    def leave(self) -> NoReturn:
        """End all dry runs and this process, and take its folder away."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for run in self.running.values():
            run.finish(True)
        shutil.rmtree(self.folder, ignore_errors=True)
        os._exit(0)

    def learn(self) -> None:
        """Import what earlier dry runs imported, so that later ones need not."""
        names = learning.harmless([name for name in self.learned if name not in self.left_alone], self.package, _fork)
        host.ReadNames.on = True
        for name in names:
            importlib.import_module(name)
        host.ReadNames.on = False
        self.left_alone.update(name for name in self.learned if name not in sys.modules)
        self.learned = []
        if names:
            gc.collect()
            gc.freeze()

    def state(self) -> dict[str, Any]:
        """What the host is told once the engine is loaded."""
        return {
            "ready": True,
            "walls": self.walls,
            "env_read": sorted(host.ReadNames.names),
            "missing": sorted(self.last.missing),
            "modules": len(sys.modules),
            "described": sorted(unknown.FakeModule.described),
            "decisions": list(DECISIONS.rows.values()),
            "hit": list(DECISIONS.hit),
            "count_asked": gpucount.GPUCount.asked,
        }


def _no_answer(_words: list[str]) -> None:
    """What a tool says that is there but cannot be run: nothing that is known."""
    return


def _known_modules() -> list[str]:
    """Names of torch's own modules, as of the version that torch_modules.txt names; written by bench/make_torch_names.py."""
    with open(os.path.join(HERE, "torch_modules.txt")) as file:
        return [line.strip() for line in file if not line.startswith("#")]


def _not_yet(repository: str) -> None:
    raise RuntimeError(f"the engine asked the hub for {repository} while it was imported")


class Run:
    """One forked dry run, seen from the child."""

    def __init__(self, child: Child, request: dict[str, Any]) -> None:
        self.request = request
        self.id = request["id"]
        self.own = os.path.join(child.folder, f"run-{self.id}")
        self.log = os.path.join(child.folder, f"log-{self.id}")
        self.text = b""
        self.deadline = _clock() + child.world["limits"].get("seconds", 60)
        self.pipe, write = _pipe()
        self.parent = _getpid()
        self.pid = _fork()
        if self.pid == 0:
            _forked(child, self, write)
        try:  # here too, or the group may not be there yet when it is to be killed
            _setpgid(self.pid, self.pid)
        except OSError:  # it has ended already
            pass
        os.close(write)

    def read(self) -> bool:
        """True once the run has closed its end."""
        piece = os.read(self.pipe, 1 << 20)
        self.text += piece
        return not piece

    def finish(self, late: bool) -> dict[str, Any]:
        """The answer, and an end to whatever the run left behind."""
        try:
            _killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        _, status = _waitpid(self.pid, 0)
        os.close(self.pipe)
        try:
            answer = json.loads(self.text)
        except ValueError:
            how = "took too long" if late else _end(status)
            answer = {"outcome": "unclear", "reason": f"the dry run {how}", "stage": None, "tail": _tail(self.log)}
        shutil.rmtree(self.own, ignore_errors=True)
        try:
            os.unlink(self.log)
        except OSError:
            pass
        return {**answer, "id": self.id}


def _end(status: int) -> str:
    """What a process's exit status says, for one that did not answer."""
    number = status & 127
    if number == signal.SIGXCPU:
        return "used more processor time than a dry run may"
    if number == signal.SIGKILL:
        return "was killed: it, or something else on this machine, used too much memory"
    return f"was ended by signal {number}" if number else f"ended with {status >> 8}"


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read()[-4000:].decode(errors="replace")
    except OSError:
        return ""


def _forked(child: Child, run: Run, write: int) -> None:
    """The life of a dry run; never returns."""
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        guards.end_with_parent(signal.SIGKILL)
        if _getppid() != run.parent:
            os._exit(1)
        out = os.open(run.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for descriptor, target in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (out, 2)):
            os.dup2(descriptor, target)
        sys.dont_write_bytecode = True
        furniture.make_own(run.own, child.boot)
        child.files.own = run.own
        os.chdir(run.own + files.WORK)
        text = json.dumps(answer_launch(child, run.request, write), default=repr)
    except OSError as error:
        text = json.dumps({"problem": _in_words(error)})
    except BaseException:
        traceback.print_exc()
        text = json.dumps(
            {
                "outcome": "unclear",
                "reason": "gonogo's own code failed in the child",
                "tail": traceback.format_exc()[-3000:],
            }
        )
    _send(write, text)


def _send(write: int, text: str) -> None:
    view = memoryview(text.encode("utf-8", "backslashreplace"))
    while view:
        view = view[os.write(write, view) :]
    os._exit(0)


def serve(child: Child, read: int, write: int) -> None:
    """Answer requests, ``jobs`` at a time, until the host closes its end."""
    running = child.running
    waiting: list[dict[str, Any]] = []
    buffer, jobs, served = b"", child.world.get("jobs", 1), 0
    while True:
        while waiting and len(running) < jobs:
            if served and not running and child.learned:
                child.learn()
            run = Run(child, waiting.pop(0))
            served += 1
            running[run.pipe] = run
        ready, _, _ = select.select([*running, read], [], [], 0.5 if running else None)
        if read in ready:
            piece = os.read(read, 1 << 20)
            if not piece:
                return
            buffer += piece
            *lines, buffer = buffer.split(b"\n")
            waiting += [json.loads(line) for line in lines if line.strip()]
        for pipe in list(running):
            run = running[pipe]
            late = _clock() > run.deadline
            if (pipe in ready and run.read()) or late:
                del running[pipe]
                answer = run.finish(late)
                child.learned += answer.pop("new_modules", [])
                _write_line(write, answer)


def _write_line(write: int, value: dict[str, Any]) -> None:
    view = memoryview(json.dumps(value).encode() + b"\n")
    while view:
        view = view[os.write(write, view) :]


def _read_world(read: int) -> dict[str, Any]:
    """The description of the world, its length in front. Raises EOFError where the host ended before it had said all."""
    line = b""
    while not line.endswith(b"\n"):
        line += _read_some(read, 1)
    body = b""
    while len(body) < int(line):
        body += _read_some(read, int(line) - len(body))
    world: dict[str, Any] = json.loads(body)
    return world


def _read_some(read: int, most: int) -> bytes:
    piece = os.read(read, most)
    if not piece:
        raise EOFError
    return piece


def main() -> None:
    """Build, load, serve. The folder of this child is told on the command line too."""
    read, write = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    try:
        child = Child(_read_world(read))
    except EOFError:
        shutil.rmtree(sys.argv[1], ignore_errors=True)
        return
    child.end_with_host()
    try:
        _load(child, write)
        serve(child, read, write)
    except BrokenPipeError:  # nobody reads the answers any more
        pass
    child.leave()


def _load(child: Child, write: int) -> None:
    """Build the world and load the engine, and tell the host how that went; does not return where it failed."""
    gc.disable()
    try:
        child.build()
    except OSError as error:
        _write_line(write, {"ready": False, "problem": _in_words(error)})
        os._exit(1)
    try:
        child.load()
    except BaseException as error:
        from .errors import describe

        told = describe(error, [])
        told["traceback"] = traceback.format_exc()[-6000:]
        _write_line(
            write,
            {
                "ready": False,
                "error": _plain_frames(told),
                "decisions": list(DECISIONS.rows.values()),
                "hit": list(DECISIONS.hit),
            },
        )
        os._exit(1)
    gc.enable()
    gc.collect()
    gc.freeze()
    _write_line(write, child.state())


def _in_words(error: OSError) -> str:
    """What the machine refused to gonogo itself: no engine has had a part in it."""
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"


def _plain_frames(told: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in ("root",)}
