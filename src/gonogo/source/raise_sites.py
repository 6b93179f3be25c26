"""Finds the raise sites of a file, and the one at a line; never runs the file."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from pathlib import Path

from gonogo.source.statements import sites_of
from gonogo.source.types import RaiseSite

_FILES_KEPT = 2048
_FARTHEST_START = 60
_SPEAKING = re.compile(r"\s*(?:raise|assert)\b")


def raise_sites_in(file: Path) -> tuple[RaiseSite, ...] | None:
    """All raise sites of a Python file by line. None where it can't be read or parsed (syntax newer than Python)."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return None
    return _parsed(str(file), status.st_mtime_ns, status.st_size)


def raise_site_at(file: Path, line: int) -> RaiseSite | None:
    """The innermost raise site whose lines hold ``line`` (1 is the first); the first of several on one line.

    Python may name any line of a statement in a traceback. None: no site there, or the file can't be parsed.
    """
    around = [site for site in raise_sites_in(file) or () if site.line_first <= line <= site.line_last]
    return min(around, key=lambda site: site.line_last - site.line_first, default=None)


def said_no(file: Path, line: int, exception: str | None = None) -> bool:
    """Whether the line belongs to a ``raise``, an ``assert`` or a call that ends the start: refused, not crashed.

    With ``exception``, the type that was raised there, an assert counts only for AssertionError: any other came out
    of its condition. A file that can't be parsed is looked at line by line.
    """
    if raise_sites_in(file) is None:
        return _looks_spoken(file, line)
    site = raise_site_at(file, line)
    return site is not None and (site.kind != "assert" or exception in (None, site.exception))


@lru_cache(maxsize=_FILES_KEPT)
def _parsed(file: str, _mtime_ns: int, _size: int) -> tuple[RaiseSite, ...] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(Path(file).read_bytes())
        return sites_of(module)
    # NUL bytes are a ValueError before Python 3.12; source nested beyond the parser's depth is one of the last two.
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _looks_spoken(file: Path, line: int) -> bool:
    """Whether the last raise or assert at or above ``line`` starts there or has a bracket still open there."""
    try:
        lines = file.read_text(errors="replace").splitlines()[:line]
    except (OSError, ValueError):
        return False
    if not 0 < line <= len(lines):
        return False
    for start in range(line - 1, max(-1, line - 1 - _FARTHEST_START), -1):
        if _SPEAKING.match(lines[start]):
            between = "\n".join(lines[start : line - 1])
            opened = sum(between.count(bracket) for bracket in "([{")
            closed = sum(between.count(bracket) for bracket in ")]}")
            return start == line - 1 or opened > closed or between.endswith("\\")
    return False
