"""What an exception that came out of an engine says: which one began it, where, and whether someone said no.

Standard library only: this runs inside the real engine's process. An answer's words are told in tests/oracle/README.md.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import os
import sys
import traceback
from dataclasses import dataclass
from typing import Any

Frame = tuple[str, int, str]
"""File, line, function; lists of frames begin with the outermost."""


@dataclass(frozen=True)
class ParserRefusal:
    """What argparse said before it left with exit code 2, and what made it say so."""

    message: str
    root: BaseException | None
    frames: list[Frame]


def listen_to_parser() -> list[ParserRefusal]:
    """Keep what every ``ArgumentParser.error`` says, from now on; the list fills as it speaks."""
    said: list[ParserRefusal] = []
    ordinary = argparse.ArgumentParser.error

    def error(self: argparse.ArgumentParser, message: str) -> Any:
        frames = _frames_of_callers()
        first = sys.exc_info()[1]
        root = first
        while root is not None and (below := _raised_from(root)) is not None:
            root = below
        root = None if root is None else root_of(root)[0]
        # An ArgumentError that argparse made itself adds nothing; what a flag's type raised says where.
        if root is not None and not (root is first and isinstance(root, argparse.ArgumentError)):
            frames += _frames_of(root)
        said.append(ParserRefusal(message, root, frames))
        ordinary(self, message)

    argparse.ArgumentParser.error = error  # type: ignore[method-assign]
    return said


def root_of(error: BaseException) -> tuple[BaseException, list[BaseException]]:
    """The exception that began it, and those around it, innermost first.

    pydantic keeps the one that a validator raised, traceback and all, in ``errors()[i]["ctx"]["error"]``.
    """
    try:
        rows = error.errors()  # type: ignore[attr-defined]
        inner = [(row.get("ctx") or {}).get("error") for row in rows]
    except Exception:  # noqa: BLE001  any class may have a method of that name
        return error, []
    for one in inner:
        if isinstance(one, BaseException) and one.__traceback__ is not None:
            root, around = root_of(one)
            return root, [*around, error]
    return error, []


def describe(error: BaseException, said: list[ParserRefusal], engine: str) -> dict[str, Any]:
    """The part of an answer that an exception fills in."""
    if isinstance(error, SystemExit) and said:
        return _describe_parser(said[-1], engine)
    root, around = root_of(error)
    frames = _frames_of(root)
    # Compiled code of pydantic and of json raises without a raise statement; what the interpreter lets fall is built in.
    of_a_library = type(root).__module__ != "builtins"
    refused = isinstance(error, SystemExit) or of_a_library or (bool(frames) and _is_no(*frames[-1][:2]))
    return {
        "outcome": "refused" if refused else "crashed",
        "exception_type": full_name(error),
        "message": str(error),
        "root_type": full_name(root),
        "root_message": str(root),
        "wrapped_by": [type(one).__name__ for one in around],
        "site": site_of(frames, engine) or site_of(_frames_of(error), engine),
    }


def _describe_parser(said: ParserRefusal, engine: str) -> dict[str, Any]:
    plain = said.root is None or isinstance(said.root, argparse.ArgumentError)
    return {
        "outcome": "refused",
        "exception_type": "SystemExit",
        "message": said.message,
        "root_type": "argparse.ArgumentError" if said.root is None else full_name(said.root),
        "root_message": said.message if said.root is None else str(said.root),
        "wrapped_by": ["SystemExit"] if plain else ["ArgumentError", "SystemExit"],
        "site": site_of(said.frames, engine),
    }


def full_name(error: BaseException) -> str:
    """``ValueError``, ``argparse.ArgumentError``."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def site_of(frames: list[Frame], engine: str) -> dict[str, Any] | None:
    """The deepest frame in the engine's package, its path from the package's parent folder."""
    place = sys.modules[engine].__file__
    if place is None:
        return None
    package = os.path.dirname(os.path.abspath(place))
    for file, line, function in reversed(frames):
        if os.path.abspath(file).startswith(package + os.sep):
            path = os.path.relpath(file, os.path.dirname(package))
            return {"path": path, "line": line, "function": function}
    return None


def _is_no(file: str, line: int) -> bool:
    """Whether this line is part of a raise or an assert statement."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return False
    return any(
        isinstance(node, ast.Raise | ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(tree)
    )


def _raised_from(error: BaseException) -> BaseException | None:
    """What this one was raised from or while handling; ``from None`` hides it, and means to."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _frames_of(error: BaseException) -> list[Frame]:
    return [(frame.filename, frame.lineno or 0, frame.name) for frame in traceback.extract_tb(error.__traceback__)]


def _frames_of_callers() -> list[Frame]:
    frames: list[Frame] = []
    frame = sys._getframe(2)
    while frame is not None:
        frames.insert(0, (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back  # type: ignore[assignment]
    return frames
