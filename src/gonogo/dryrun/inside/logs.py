"""What the engine says on the way: log records at WARNING and above, and what its argument parser refuses."""

from __future__ import annotations

import argparse
import logging
import sys
from types import FrameType
from typing import Any

from .errors import fault_of, frames_of, root_exception, under


def listen_to_log(package: str) -> list[str]:
    """Records at WARNING and above of the engine's loggers, as ``LEVEL logger:line message``.

    A record factory survives an engine's own logging configuration.
    """
    rows: list[str] = []
    ordinary = logging.getLogRecordFactory()

    def factory(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = ordinary(*args, **kwargs)
        if record.exc_info and record.exc_info[1] is not None:
            note_swallowed(record.exc_info[1])
        if record.levelno >= logging.WARNING and record.name.split(".")[0] == package:
            try:
                text = record.getMessage()
            except Exception as error:
                text = f"{record.msg!r} ({error!r})"
            WARNED_ON_IMPORT.update(_being_imported())
            rows.append(f"{record.levelname} {record.name}:{record.lineno} {text}")
        return record

    logging.setLogRecordFactory(factory)
    return rows


#: Modules that were being imported when something warned: they, and those that imported them.
WARNED_ON_IMPORT: set[str] = set()
#: Exceptions that look like a stand-in's and that the engine took note of and went on.
SWALLOWED: list[str] = []


def _being_imported() -> set[str]:
    names = set()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            names.add(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    return names


def note_swallowed(error: BaseException) -> None:
    """Remember an exception that is our own fault and that the engine does not pass on."""
    fault = fault_of(root_exception(error))
    if fault is not None:
        SWALLOWED.append(f"{fault}: {type(error).__name__}: {error}"[:400])


def listen_to_parser() -> list[dict[str, Any]]:
    """What argparse refused: it turns every refusal into exit(2), so keep what it said and, for a type that raised, where."""
    said: list[dict[str, Any]] = []
    ordinary = argparse.ArgumentParser.error

    def error(self: argparse.ArgumentParser, message: str) -> Any:
        frames: list[tuple[str, int, str]] = []
        frame = sys._getframe(1)
        while frame is not None:
            frames.insert(0, (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname))
            frame = frame.f_back  # type: ignore[assignment]
        first = root = sys.exc_info()[1]
        while root is not None and (below := under(root)) is not None:
            root = below
        if root is not None:
            root = root_exception(root)
            if root is not first or not isinstance(root, argparse.ArgumentError):
                frames += frames_of(root)
        said.append({"message": message, "frames": frames, "root": root, "add_argument": _where_added(self, first)})
        return ordinary(self, message)

    argparse.ArgumentParser.error = error  # type: ignore[method-assign, assignment]
    return said


def _where_added(parser: argparse.ArgumentParser, error: BaseException | None) -> tuple[str, int, str] | None:
    """The engine's line that added the argument which an ArgumentError names."""
    name = getattr(error, "argument_name", None)
    if not name:
        return None
    for action in parser._actions:
        if "/".join(action.option_strings) == name or name in (action.metavar, action.dest):
            return ADDED.get(id(action))
    return None


#: id of an argparse action → the frame that added it. Actions live as long as their parser, and that as long as the run.
ADDED: dict[int, tuple[str, int, str]] = {}


def remember_arguments(is_engine: Any) -> None:
    """Note for each argument which line of the engine added it."""
    ordinary = argparse._ActionsContainer.add_argument

    def add_argument(self: Any, *args: Any, **kwargs: Any) -> Any:
        action = ordinary(self, *args, **kwargs)
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if is_engine(code.co_filename) and code.co_name not in ("add_argument", "add_argument_group"):
                ADDED[id(action)] = (code.co_filename, frame.f_lineno, code.co_qualname)
                break
            frame = frame.f_back  # type: ignore[assignment]
        return action

    argparse._ActionsContainer.add_argument = add_argument  # type: ignore[method-assign]
