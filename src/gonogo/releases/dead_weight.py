"""Files of installed packages that no import reads: a few kinds of file, and those named in ``dead_weight.toml``."""

from __future__ import annotations

import fnmatch
import tomllib
from functools import cache
from pathlib import Path, PurePosixPath

# Sources for a compiler, stubs for a type checker.
_SUFFIXES = {".pyi", ".pyx", ".pxd", ".c", ".cc", ".cpp", ".h", ".hpp", ".f", ".f90", ".a", ".lib"}
_FOLDERS = {"tests", "licenses", "sboms"}


@cache
def _table() -> dict[str, list[str]]:
    table: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("dead_weight.toml").read_text())
    return table


@cache
def patterns() -> tuple[str, ...]:
    """The patterns of ``dead_weight.toml``; what is kept stands behind a ``!``."""
    return (*_table()["files"], *(f"!{name}" for name in _table()["kept"]))


def is_dead_weight(name: PurePosixPath) -> bool:
    """Whether start-up code can do without the file ``name``, a path in a site folder."""
    if str(name) in _table()["kept"]:
        return False
    if name.suffix in _SUFFIXES or name.parts[0] == "bin" or not _FOLDERS.isdisjoint(name.parts[1:-1]):
        return True
    return any(fnmatch.fnmatchcase(str(name), pattern) for pattern in patterns())


def strip(site: Path) -> None:
    """Remove all dead weight from a site folder."""
    # deepest first, so that a folder that has become empty can go as well
    for path in sorted(site.rglob("*"), key=lambda path: len(path.parts), reverse=True):
        if not path.is_dir():
            if is_dead_weight(PurePosixPath(path.relative_to(site).as_posix())):
                path.unlink()
        elif not any(path.iterdir()):
            path.rmdir()
