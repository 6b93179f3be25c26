"""A child process on the host side: starts it in a bare environment, gives it a world, passes requests and answers."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gonogo.problems import OwnProblem

_BOOT = Path(__file__).parent / "inside" / "boot.py"
#: All that the child's interpreter is told: nothing of the user's. ``-I`` would say so too, but takes away the hash seed,
#: and the order in which an engine tells the members of a set.
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC0",
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",
    "PYTHONUTF8": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class ChildEnded(OwnProblem):
    """The child is gone: somebody killed it, or the machine took its memory."""


class ChildProcess:
    """One child. ``state`` is what it said after loading the engine; ``error`` why it could not, if it could not."""

    def __init__(self, python: Path, world: dict[str, Any], patience: float = 300) -> None:
        """Start and load. Raises OwnProblem where the child itself cannot run; an engine that fails to load is no problem."""
        self.folder = Path(tempfile.mkdtemp(prefix="gonogo-")).resolve()
        self._buffer = b""
        self._numbers = iter(range(1, 1 << 60))
        self.asked = 0  # how often
        self._log = (self.folder / "child.log").open("wb")
        world = {**world, "folder": str(self.folder), "host_process": os.getpid()}
        try:
            self._process = subprocess.Popen(
                [str(python), "-s", "-S", str(_BOOT), str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=_ENVIRONMENT,
                cwd=self.folder,
                start_new_session=True,
            )
            body = json.dumps(world).encode()
            self._send(str(len(body)).encode() + b"\n" + body)
            self.state = self._receive(patience)
            _check(self.state)
        except OSError as error:
            self.close()
            raise OwnProblem(f"cannot start the child for dry runs with {python}: {error}") from error
        except BaseException:
            self.close()
            raise
        self.error: dict[str, Any] | None = None if self.state.get("ready") else self.state["error"]

    def ask(self, requests: Iterable[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Answers as they come, each with its request's index."""
        numbers: dict[int, int] = {}
        self.asked += 1
        for index, request in enumerate(requests):
            number = next(self._numbers)
            numbers[number] = index
            self._send(json.dumps({**request, "id": number}).encode() + b"\n")
        while numbers:
            answer = self._receive(600)
            _check(answer)
            if answer["id"] in numbers:  # else the answer to a question that its asker gave up
                yield numbers.pop(answer["id"]), answer

    def ask_one(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        return next(self.ask([request]))[1]

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError as error:
            raise ChildEnded(f"the child for dry runs has ended: {self._last_words() or error}") from error

    def _receive(self, patience: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        until = time.monotonic() + patience
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
            piece = os.read(descriptor, 1 << 20) if ready else b""
            if not ready:
                raise OwnProblem(f"the child for dry runs did not answer within {patience:.0f} s")
            if not piece:
                raise ChildEnded(
                    f"the child for dry runs ended unexpectedly: {self._last_words() or 'it said nothing'}"
                )
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    @property
    def has_ended(self) -> bool:
        """Whether it was killed, so that another is needed. One that could not load the engine has said all it can say."""
        return self._process.poll() is not None and self.error is None

    def _last_words(self) -> str:
        self._log.flush()
        text = (self.folder / "child.log").read_text(errors="replace").strip()
        return text.splitlines()[-1][:300] if text else ""

    @property
    def log(self) -> str:
        """What the child's engine printed while it was loaded."""
        self._log.flush()
        return (self.folder / "child.log").read_text(errors="replace")

    def close(self) -> None:
        """End the child and take its folder away."""
        process = getattr(self, "_process", None)
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _check(told: dict[str, Any]) -> None:
    """Raise OwnProblem where the machine did not let the child do its own work."""
    if "problem" in told:
        raise OwnProblem(f"a dry run could not be made: {told['problem']} (TMPDIR says where its files go)")
