"""An exception in normal form: the innermost one, what stood around it, and where it was born."""

from __future__ import annotations

import ast
import errno
import linecache
import traceback
from typing import Any

from .decisions import HERE
from .unknown import MARK, is_unknown

Frame = tuple[str, int, str]

#: What the system answers where something is full: files too large, disks, tables of open files.
_OF_THIS_MACHINE = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


def under(error: BaseException) -> BaseException | None:
    """What this exception was raised from, or while handling."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def root_exception(error: BaseException) -> BaseException:
    """The exception that began it: pydantic keeps the one a validator raised, traceback and all, in errors()[i]["ctx"]."""
    return chain(error)[-1]


def chain(error: BaseException) -> list[BaseException]:
    """``error`` and what pydantic wrapped in it, outermost first."""
    try:
        inner = [(row.get("ctx") or {}).get("error") for row in error.errors()]  # type: ignore[attr-defined]
    except Exception:
        return [error]
    for one in inner:
        if isinstance(one, BaseException) and one.__traceback__ is not None:
            return [error, *chain(one)]
    return [error]


def came_of_a_fall(error: BaseException) -> str | None:
    """What an exception was raised from that no code raised on purpose: most likely stand-ins were in the way. None: nothing."""
    while (below := under(error)) is not None:
        frames = frames_of(below)
        if fault_of(below) is not None or (
            type(below).__module__ == "builtins" and frames and not said_no(*frames[-1][:2])
        ):
            return f"{type(below).__name__}: {_text(below)}"
        error = below
    return None


def frames_of(error: BaseException) -> list[Frame]:
    """(file, line, qualified name) of the traceback, outermost first."""
    frames = [
        (frame.f_code.co_filename, line or 0, frame.f_code.co_qualname)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    # The file functions only pass on what the system said: to the engine it was ``open`` itself that failed.
    while len(frames) > 1 and frames[-1][0] == HERE + "files.py":
        frames.pop()
    return frames


def said_no(file: str, line: int) -> bool:
    """Is this line part of a raise or an assert statement?"""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, (ast.Raise, ast.Assert)) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(tree)
    )


def type_name(kind: type) -> str:
    """The name of an exception type, with its module unless it is built in."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def describe(error: BaseException, said: list[dict[str, Any]]) -> dict[str, Any]:
    """outcome, root_type, message, exception_type, wrapped_by, frames of the root, and why it may be our fault."""
    if isinstance(error, SystemExit) and said:
        last = said[-1]
        root = last["root"]
        ordinary = root is None or type(root).__name__ in ("ArgumentError", "ArgumentTypeError")
        return {
            "outcome": "refused",
            "exception_type": "SystemExit",
            "root_type": type_name(type(root)) if root is not None else "argparse.ArgumentError",
            "type": "ArgumentError",
            "wrapped_by": ["SystemExit"] if ordinary else ["ArgumentError", "SystemExit"],
            "message": last["message"],
            "root_message": str(root) if root is not None else last["message"],
            "exit_message": last["message"],
            "frames": last["frames"],
            "outer_frames": frames_of(error),
            "add_argument": last["add_argument"],
            "fault": fault_of(root) if root is not None else None,
        }
    links = chain(error)
    root = links[-1]
    frames = frames_of(root)
    # Compiled code of pydantic and of json raises without a raise statement; what the interpreter lets fall is built in.
    of_a_library = type(root).__module__ != "builtins"
    refused = isinstance(error, SystemExit) or of_a_library or bool(frames and said_no(*frames[-1][:2]))
    return {
        "outcome": "refused" if refused else "crashed",
        "exception_type": type_name(type(error)),
        "root_type": type_name(type(root)),
        "type": type(root).__name__,
        "wrapped_by": [type(link).__name__ for link in reversed(links[:-1])],
        "message": _text(root),
        "root_message": _text(root),
        "exit_message": _text(error),
        "frames": frames,
        "outer_frames": frames_of(error),
        "add_argument": None,
        "fault": fault_of(root),
    }


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"(its message cannot be made: {type(broken).__name__})"


def fault_of(error: BaseException) -> str | None:
    """Why this exception may come from gonogo's own stand-ins and not from the engine; None: no sign of that."""
    if getattr(error, "_gonogo_real", False):
        return None
    frames = frames_of(error)
    if frames and frames[-1][0].startswith(HERE):
        return f"raised by a stand-in ({frames[-1][2]})"
    if isinstance(error, ModuleNotFoundError) and not (frames and said_no(*frames[-1][:2])):
        return f"the module {error.name} is not in the light environment"
    if isinstance(error, ImportError) and not (frames and said_no(*frames[-1][:2])):
        return (
            f"the import of {error.name_from or error.name} failed"
            if hasattr(error, "name_from")
            else "an import failed"
        )
    spoken = bool(frames and said_no(*frames[-1][:2]))
    if isinstance(error, MemoryError):
        return "it used more memory than a dry run may"
    if isinstance(error, OSError) and error.errno in _OF_THIS_MACHINE and not spoken:
        return "a limit of dry runs or of this machine was in the way"
    if isinstance(error, OSError) and error.errno is not None and not spoken:
        return "the pretend host has no such thing"
    if type(error).__module__.split(".")[0] == "psutil":
        return "the pretend host was asked for what it does not have"
    if isinstance(error, AttributeError) and (is_unknown(error.obj) or _from_fakes(error.obj)):
        return f"asked a stand-in for {error.name!r}"
    if (
        MARK in _text(error)
        or "Unknown' object" in _text(error)
        or "FakeModule" in _text(error)
        or "gonogo_inside" in _text(error)
    ):
        return "its message holds a stand-in"
    values = [
        value for frame, _ in list(traceback.walk_tb(error.__traceback__))[-1:] for value in frame.f_locals.values()
    ]
    unknown = next((value for value in values if is_unknown(value)), None)
    if isinstance(error, (TypeError, AttributeError)) and unknown is not None:
        return f"a stand-in was at hand where the engine fell over ({unknown!r})"[:200]
    return None


def _from_fakes(value: Any) -> bool:
    kind = value if isinstance(value, type) else type(value)
    return kind.__module__.split(".")[0] in ("torch", "gonogo_inside")
