"""How a command ends: with its exit code, whatever happens to it, its terminal or its pipes, and never in a traceback.

Exit code 1 means NO-GO and nothing else, so gonogo's own failures have to end in 4.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn, TextIO

from gonogo.problems import OwnProblem, Problem

_TRACEBACK = "GONOGO_TRACEBACK"
_STDOUT_GONE = 128 + signal.SIGPIPE


class _Ended(BaseException):
    """Ended from outside: by a signal, or by a reader that has gone. Not an Exception, so that nothing swallows it."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def run_to_end(run: Callable[[], int], tell: Callable[[Problem], None]) -> int:
    """The exit code of a command that ``run`` runs. ``tell`` says what kept it from its result."""
    _fill_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        # In a locale without UTF-8, and for arguments that are no text, an escape is better than a failure.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with _signals_end_it():
            try:
                return run()
            except Problem as problem:
                tell(problem)
                return problem.exit_code
            except OSError as error:
                return _told(tell, OwnProblem(_in_words(error)))
            except Exception as error:  # noqa: BLE001  a bug must not look like a NO-GO
                if os.environ.get(_TRACEBACK):
                    traceback.print_exc()
                what = f"{type(error).__name__}: {error}"[:500]
                hint = f"please report it with the traceback that {_TRACEBACK}=1 shows"
                return _told(
                    tell,
                    OwnProblem(f"an error of gonogo's own ({what}): {hint}"),
                )
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except _Ended as ended:
        return ended.code
    except SystemExit as ended:  # argparse, after --help or --version
        return ended.code if isinstance(ended.code, int) else 0


def say(text: str) -> None:
    """Write a result to stdout, at once. Raises OwnProblem where it cannot be written."""
    _write(sys.stdout, text, "the result")


def say_aside(text: str) -> None:
    """Write one line to stderr, for people."""
    with suppress(OwnProblem):
        _write(sys.stderr, text + "\n", "to stderr")


def _fill_standard_streams() -> None:
    """Open nothing in the place of a standard stream that is closed, or the next file opened would be taken for it."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def _told(tell: Callable[[Problem], None], problem: Problem) -> int:
    tell(problem)
    return problem.exit_code


def _in_words(error: OSError) -> str:
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"


def _write(stream: TextIO | None, text: str, what: str) -> None:
    if stream is None:  # closed by whoever started us
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _mute(stream)
        raise _Ended(_STDOUT_GONE) from None
    except OSError as error:
        _mute(stream)
        raise OwnProblem(f"cannot write {what}: {_in_words(error)}") from error


def _mute(stream: TextIO) -> None:
    """Let Python's own flush at exit find somewhere to write to."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def _signals_end_it() -> Iterator[None]:
    """Signals that end a process unwind it first, so that children and temporary folders go with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        raise _Ended(128 + number)

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # not under nohup
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
