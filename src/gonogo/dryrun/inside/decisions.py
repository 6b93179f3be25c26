"""The log of decisions that engine code takes on values gonogo cannot know, and their forcing to another answer.

A decision is known by ``kind name @path:line``. The host runs a launch again with one decision forced; what changes then
depends on it. Kinds: ``truth``, ``compare``, ``in``, ``len``, ``iterate``, ``int``, ``index``, ``float``, ``isinstance``,
``hasattr`` (an attribute was asked for in a way that survives its absence) and ``import`` (so was a module).
"""

from __future__ import annotations

import dis
import itertools
import os
import sys
from types import CodeType, FrameType
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep

#: Instructions by which code asks for an attribute and breaks if there is none.
_PLAIN_ACCESS = {"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "LOAD_FROM_DICT_OR_GLOBALS", "DELETE_ATTR", "STORE_ATTR"}
#: Frames of these files stand between the code that asked and the value that was asked.
_GO_BETWEENS = ("<frozen importlib", "/importlib/", "/typing.py", "/functools.py", "/enum.py", "/dataclasses.py")


class Decisions:
    """Every decision of this process, in order; answers can be forced by key."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.forced: dict[str, Any] = {}
        self.hit: dict[str, None] = {}
        self.phase = "import"
        self.roots: list[str] = []

    def take(self, kind: str, name: str, usual: Any, other: Any) -> Any:
        """The answer to one decision: ``usual``, unless another was forced. ``other`` is the answer worth trying."""
        if _importing_typing():
            return usual
        path, line, function = self._site()
        key = f"{kind} {name} @{path}:{line}"
        if key in self.forced:
            self.hit[key] = None
            return self.forced[key]
        row = self.rows.get(key)
        if row is None:
            self.rows[key] = {
                "key": key,
                "kind": kind,
                "name": name,
                "path": path,
                "line": line,
                "function": function,
                "phase": self.phase_now(),
                "usual": _plain(usual),
                "other": _plain(other),
                "times": 1,
            }
        else:
            row["times"] += 1
        return usual

    def phase_now(self) -> str:
        """``import`` while a module body runs (but for the one that was started as a program), else the phase that was set."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            body = frame.f_code.co_name == "<module>" and not frame.f_code.co_filename.startswith(HERE)
            if body and frame.f_globals.get("__name__") != "__main__":
                return "import"
            frame = frame.f_back
        return self.phase

    def _site(self) -> tuple[str, int, str]:
        """The innermost frame of the engine that led here; else the innermost that is not ours."""
        frame: FrameType | None = sys._getframe(2)
        first: FrameType | None = None
        while frame is not None:
            file = frame.f_code.co_filename
            if not file.startswith(HERE):
                if self._relative(file) is not None:
                    return self._relative(file) or file, frame.f_lineno, frame.f_code.co_qualname
                if first is None and not any(part in file for part in _GO_BETWEENS):
                    first = frame
            frame = frame.f_back
        if first is None:
            return "?", 0, "?"
        return os.path.basename(first.f_code.co_filename), first.f_lineno, first.f_code.co_qualname

    def _relative(self, file: str) -> str | None:
        for root in self.roots:
            if file.startswith(root):
                return file[len(root) :]
        return None


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def _importing_typing() -> bool:
    """Annotations are built from fakes without meaning anything by it."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(3):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith(("/typing.py", "/typing_extensions.py", "/_collections_abc.py")):
            return True
        frame = frame.f_back
    return False


def asking_frame() -> FrameType | None:
    """The innermost frame that is neither ours nor the import machinery's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(HERE) and not file.startswith("<frozen importlib") and "/importlib/" not in file:
            return frame
        frame = frame.f_back
    return None


def survives_absence(frame: FrameType | None) -> bool:
    """Would this frame go on if the attribute or module it asks for did not exist?

    True for ``hasattr``, ``getattr`` and the like (the instruction is a call, not an access), and inside ``try``.
    """
    if frame is None:
        return False
    code, at = frame.f_code, frame.f_lasti
    if _instruction(code, at) not in _PLAIN_ACCESS | {"IMPORT_NAME"} and not _is_bare_getattr(code, at):
        return True
    return _in_try(code, at)


def probed(frame: FrameType | None) -> bool:
    """Was it asked for by a call (``hasattr``, ``getattr`` with a default), not by plain access?"""
    return frame is not None and _instruction(frame.f_code, frame.f_lasti) not in _PLAIN_ACCESS | {"IMPORT_NAME"}


def _is_bare_getattr(code: CodeType, at: int) -> bool:
    """Is the call at this instruction ``getattr(x, name)`` without a default? It breaks like plain access does."""
    import ast
    import linecache

    try:
        first, last, start, end = next(itertools.islice(code.co_positions(), at // 2, None))
        if first is None or last is None or start is None or end is None:
            return False
        lines = [linecache.getline(code.co_filename, number) for number in range(first, last + 1)]
        lines[-1] = lines[-1].encode()[:end].decode(errors="replace")
        lines[0] = lines[0].encode()[start:].decode(errors="replace")
        call = ast.parse("".join(lines).strip(), mode="eval").body
    except (SyntaxError, ValueError, StopIteration):
        return False
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "getattr"
        and len(call.args) == 2
    )


def _instruction(code: CodeType, at: int) -> str:
    return dis.opname[code.co_code[at]] if 0 <= at < len(code.co_code) else "?"


def _in_try(code: CodeType, at: int) -> bool:
    parse = getattr(dis, "_parse_exception_table", None)
    if parse is None or not code.co_exceptiontable:
        return False
    return any(entry.start <= at < entry.end and not entry.lasti for entry in parse(code))


DECISIONS = Decisions()


def engine_stack() -> list[str]:
    """``path:function`` of the engine's frames on the stack, innermost first."""
    rows = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = DECISIONS._relative(frame.f_code.co_filename)
        if path is not None:
            rows.append(f"{path}:{frame.f_code.co_qualname}")
        frame = frame.f_back
    return rows
