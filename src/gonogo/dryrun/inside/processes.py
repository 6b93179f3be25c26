"""Other processes of the world: known tools answer, worker processes are the edge of the dry run, the rest is not there."""

from __future__ import annotations

import io
import multiprocessing.process
import os
import shlex
import subprocess
import types
from collections.abc import Callable
from typing import Any

from .decisions import DECISIONS


class Reached(BaseException):
    """The dry run came to its edge. Not an Exception, so that nothing on the way out takes it for a failure."""

    def __init__(self, what: str, config: Any = None) -> None:
        super().__init__(what)
        self.what, self.config = what, config


class World:
    """The commands that exist: name → (words) → printed text, or None where the answer is not known."""

    tools: dict[str, Callable[[list[str]], str | None]] = {}  # noqa: RUF012  one process, one world


class FakePopen:
    """subprocess.Popen for known tools."""

    def __class_getitem__(cls, _item: Any) -> Any:
        return cls

    def __init__(self, args: Any, *_rest: Any, **options: Any) -> None:
        words = shlex.split(args) if isinstance(args, str) else [os.fsdecode(os.fspath(word)) for word in args]
        name = os.path.basename(words[0]) if words else ""
        tool = World.tools.get(name)
        self.args = args
        if tool is None:
            if options.get("shell"):
                self._finish(127, "", options)
                return
            raise FileNotFoundError(2, "No such file or directory", words[0] if words else "")
        text = tool(words[1:])
        if text is None:
            DECISIONS.take("command", shlex.join(words)[:120], "fails", "fails")
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
        raise Reached(f"start of the process {self.name}")

    multiprocessing.process.BaseProcess.start = start  # type: ignore[method-assign]
    for name in ("execv", "execve", "execvp", "execvpe", "posix_spawn", "posix_spawnp", "spawnv", "spawnve", "forkpty"):
        if hasattr(os, name):
            setattr(os, name, _edge(name))


def _edge(name: str) -> Callable[..., Any]:
    def edge(*args: Any, **_kwargs: Any) -> Any:
        raise Reached(f"os.{name}({args[0] if args else ''})")

    return edge


def real_fork() -> types.FunctionType:
    """os.fork as it is now, to be kept before the engine is loaded."""
    return os.fork  # type: ignore[return-value]
