"""Other processes of the world: known tools answer, worker processes are the edge of the dry run, the rest is not there."""

from __future__ import annotations

import io
import multiprocessing.process
import multiprocessing.resource_tracker
import os
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

from . import pipelines
from .unknown import MARK

_kill, _getpid = os.kill, os.getpid
_STARTS = (
    "fork",
    "forkpty",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "execl",
    "execle",
    "execlp",
    "execlpe",
    "posix_spawn",
    "posix_spawnp",
    "spawnv",
    "spawnve",
    "spawnvp",
    "spawnvpe",
    "spawnl",
    "spawnle",
    "spawnlp",
    "spawnlpe",
)


class Reached(BaseException):
    """The dry run came to its edge. Not an Exception, so that nothing on the way out takes it for a failure."""

    def __init__(self, what: str, config: Any = None, model: Any = None) -> None:
        super().__init__(what)
        self.what, self.config, self.model = what, config, model


class World:
    """The commands that exist: name → (words) → printed text, or None where the answer is not known."""

    tools: dict[str, Callable[[list[str]], str | None]] = {}  # noqa: RUF012  one process, one world
    in_place = False  # whether a process that was started already runs in this one
    unknown: list[str] = []  # noqa: RUF012  commands whose answer is not known, which the engine was told had failed


def _said(tool: Callable[[list[str]], str | None], words: list[str]) -> str | None:
    """What a tool prints; None where that would be, or hold, what is not known."""
    text = tool(words)
    return text if isinstance(text, str) and MARK not in text else None


class FakePopen:
    """subprocess.Popen for known tools."""

    def __class_getitem__(cls, _item: Any) -> Any:
        return cls

    def __init__(self, args: Any, *_rest: Any, **options: Any) -> None:
        self.args = args
        if options.get("shell"):
            self._shell(args if isinstance(args, str) else os.fspath(args[0]), options)
            return
        words = shlex.split(args) if isinstance(args, str) else [os.fsdecode(os.fspath(word)) for word in args]
        tool = World.tools.get(os.path.basename(words[0])) if words else None
        if tool is None:
            raise FileNotFoundError(2, "No such file or directory", words[0] if words else "")
        text = _said(tool, words[1:])
        if text is None:
            World.unknown.append(shlex.join(words))
        self._finish(1 if text is None else 0, text or "", options)

    def _shell(self, command: str, options: dict[str, Any]) -> None:
        """A pipeline that starts with a known tool; else the shell's own "not found"."""
        try:
            first, *filters = pipelines.split(command)
            tool = World.tools.get(os.path.basename(first[0]))
            text = _said(tool, first[1:]) if tool is not None else ""
            if tool is None and not filters:
                self._finish(127, "", options)
                return
            if text is None:
                raise pipelines.Unreadable(command)
            for words in filters:
                text = pipelines.apply(words, text)
        except pipelines.Unreadable:
            World.unknown.append(command)
            self._finish(1, "", options)
            return
        self._finish(0, text, options)

    def _finish(self, code: int, text: str, options: dict[str, Any]) -> None:
        self._text = bool(options.get("text") or options.get("universal_newlines") or options.get("encoding"))
        self.returncode, self.pid = code, 2
        body: Any = text if self._text else text.encode()
        self._body = body
        self.stdout: Any = io.StringIO(text) if self._text else io.BytesIO(text.encode())
        self.stderr: Any = io.StringIO() if self._text else io.BytesIO()
        self.stdin: Any = None

    def communicate(self, input: Any = None, timeout: Any = None) -> tuple[Any, Any]:
        return self._body, "" if self._text else b""

    def wait(self, timeout: Any = None) -> int:
        return int(self.returncode)

    def poll(self) -> int:
        return int(self.returncode)

    def kill(self) -> None:
        pass

    terminate = kill

    def send_signal(self, _signal: Any) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_args: Any) -> bool:
        return False


def install(tools: dict[str, Callable[[list[str]], str | None]]) -> None:
    """Put the pretend processes in place of the real ones."""
    World.tools = tools
    subprocess.Popen = FakePopen  # type: ignore[misc, assignment]
    os.system = lambda _command: 127 << 8

    def start(self: Any) -> None:
        """The first process that is started does the launch's work, where it was not done before: it runs in place."""
        if World.in_place:
            raise Reached(f"start of the process {self.name}")
        World.in_place = True
        self.run()
        raise Reached(f"the end of the process {self.name}")

    multiprocessing.process.BaseProcess.start = start  # type: ignore[method-assign]
    for name in _STARTS:
        if hasattr(os, name):
            setattr(os, name, _edge(name))
    # The helper of multiprocessing that cleans up after crashes is started natively.
    tracker: Any = multiprocessing.resource_tracker._resource_tracker
    tracker.ensure_running = lambda: None
    tracker._send = lambda *_a: None

    def kill(pid: int, number: int) -> None:
        """There is one process in the world; it may end itself."""
        if pid not in (0, os.getpid()):
            raise ProcessLookupError(3, "No such process")
        if number:
            _kill(_getpid(), number)

    os.kill = os.killpg = kill


def _edge(name: str) -> Callable[..., Any]:
    def edge(*args: Any, **_kwargs: Any) -> Any:
        raise Reached(f"os.{name}({args[0] if args else ''})")

    return edge
