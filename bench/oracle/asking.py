"""Ask a real engine about many launches: import it once, fork for each.

Standard library only: this runs inside the real engine's process. ``ask_vllm.py`` and ``ask_sglang.py`` say what is
imported and what one launch runs; this module feeds them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

Answer = dict[str, Any]
Body = Callable[[list[str], dict[str, str]], Any]
"""Runs one launch (argv, env) in the process that it is called in, and returns what can be written as JSON."""


@dataclass(frozen=True)
class Judge:
    """A real engine: its package, what to import once, what one launch runs, and the script that both stand in."""

    engine: str
    modules: tuple[str, ...]
    body: Body
    script: str
    help: str

    def load(self) -> None:
        """Import the engine; the first module must be there, the others are not in every release."""
        importlib.import_module(self.modules[0])
        for name in self.modules[1:]:
            with suppress(ModuleNotFoundError):
                importlib.import_module(name)

    def version(self) -> str:
        """``vllm 0.32.0``, as installed."""
        for name in (self.engine, f"{self.engine}-cpu"):
            with suppress(importlib.metadata.PackageNotFoundError):
                return f"{self.engine} {importlib.metadata.version(name)}"
        return self.engine


def blank() -> Answer:
    """An answer before anything was said."""
    nothing: Answer = dict.fromkeys(("stage", "exception_type", "message", "root_type", "root_message"))
    return {"outcome": "passed", **nothing, "wrapped_by": [], "site": None, "resolved": {}}


def listen_to_log(engine: str) -> list[str]:
    """The engine's own log records at WARNING and above, from now on: ``LEVEL logger:line message``.

    A record factory hears them whatever handlers and levels the engine configures.
    """
    rows: list[str] = []
    ordinary = logging.getLogRecordFactory()

    def factory(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = ordinary(*args, **kwargs)
        if record.levelno >= logging.WARNING and record.name.split(".")[0] == engine:
            try:
                text = record.getMessage()
            except Exception as error:  # noqa: BLE001  the engine's own mistake in a log call
                text = f"{record.msg!r} ({error!r})"
            rows.append(f"{record.levelname} {record.name}:{record.lineno} {text}")
        return record

    logging.setLogRecordFactory(factory)
    return rows


class _Child:
    """One launch in a forked process of its own."""

    def __init__(self, launch: dict[str, Any], body: Body) -> None:
        self.launch = launch
        self.started = time.monotonic()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in finish()
        self._text = b""
        self.pipe, write = os.pipe()
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid == 0:
            self._be_the_child(body, write)
        os.close(write)

    def _be_the_child(self, body: Body, write: int) -> None:
        os.setsid()  # so that what it starts can be ended with it
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(self._log.fileno(), 1)
        os.dup2(self._log.fileno(), 2)
        try:
            text = json.dumps(body(self.launch.get("argv", []), self.launch.get("env") or {}))
        except BaseException:  # noqa: BLE001  the parent reads it from the log
            traceback.print_exc()
            text = ""
        with os.fdopen(write, "w") as out:
            out.write(text)
        os._exit(0)

    def read(self) -> bool:
        """Take what has come; True once the child has closed its end."""
        piece = os.read(self.pipe, 1 << 20)
        self._text += piece
        return not piece

    def finish(self, late: bool = False) -> Answer:
        """End the child and what it left behind; its answer, or how it died."""
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        os.close(self.pipe)
        try:
            answer = json.loads(self._text)
        except ValueError:
            ended = f"Signal {status & 127}" if status & 127 else f"Exit {status >> 8}"
            kind = "Timeout" if late else ended
            answer = {**blank(), "outcome": "crashed", "exception_type": kind, "root_type": kind, "warnings": []}
        if answer["outcome"] == "crashed":
            self._log.seek(0)
            answer["output_tail"] = self._log.read().decode(errors="replace")[-3000:]
        self._log.close()
        answer.setdefault("seconds", round(time.monotonic() - self.started, 3))
        return {"id": self.launch.get("id"), **answer}


def ask_all(launches: Iterable[dict[str, Any]], body: Body, jobs: int, timeout: float) -> Iterator[Answer]:
    """Answers as they come, ``jobs`` launches at a time, ``timeout`` seconds each."""
    waiting = iter(launches)
    running: dict[int, _Child] = {}
    more = True
    while more or running:
        while more and len(running) < jobs:
            launch = next(waiting, None)
            more = launch is not None
            if launch is not None:
                child = _Child(launch, body)
                running[child.pipe] = child
        ready, _, _ = select.select(list(running), [], [], 0.2)
        for pipe, child in list(running.items()):
            late = time.monotonic() - child.started > timeout
            if (pipe in ready and child.read()) or late:
                del running[pipe]
                yield child.finish(late)


def _in_new_interpreters(script: str) -> Body:
    def body(argv: list[str], env: dict[str, str]) -> Any:
        done = subprocess.run(
            [sys.executable, script, "--one"],
            input=json.dumps({"argv": argv, "env": env}),
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        return json.loads(done.stdout.splitlines()[-1])

    return body


def _preload(judge: Judge, launch: dict[str, Any]) -> None:
    """Import here what a first launch imports in a throw-away child, so that later forks need not."""

    def names(argv: list[str], env: dict[str, str]) -> list[str]:
        judge.body(argv, env)
        return sorted(name for name in sys.modules if name.split(".")[0] in (judge.engine, "transformers"))

    child = _Child(launch, names)
    while not child.read():
        pass
    found = json.loads(child._text or "[]")
    child._text = b"{}" if not found else json.dumps({"outcome": "passed"}).encode()
    child.finish()
    for name in found:
        with suppress(BaseException):
            importlib.import_module(name)


def main(judge: Judge) -> None:
    """The command: launches as JSON lines on standard input, answers as JSON lines on standard output."""
    options = argparse.ArgumentParser(description=judge.help, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--jobs", type=int, default=1, help="launches at a time (1)")
    options.add_argument("--timeout", type=float, default=120, help="seconds for each launch (120)")
    options.add_argument("--fresh", action="store_true", help="a new interpreter for each launch: slow")
    options.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    out, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    if chosen.one:
        launch = json.loads(sys.stdin.read())
        judge.load()
        out.write(json.dumps(judge.body(launch["argv"], launch["env"])) + "\n")
        out.flush()
        os._exit(0)
    launches = [json.loads(line) for line in sys.stdin if line.strip()]
    body, version = _in_new_interpreters(judge.script), judge.version()
    if not chosen.fresh:
        judge.load()
        body = judge.body
        if launches:
            _preload(judge, launches[0])
    for answer in ask_all(launches, body, chosen.jobs, chosen.timeout):
        out.write(json.dumps({**answer, "engine": version}) + "\n")
        out.flush()
