"""Which modules and names a package has that a light environment leaves out: read in its wheel, without running it.

Of a wheel its list of files is fetched, and the few modules that somebody asks about; both are kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from gonogo.problems import OwnProblem
from gonogo.progress import Progress
from gonogo.releases.archive import nearest_wheel
from gonogo.releases.index import ArchiveFile, NoSuchPackage, release_info
from gonogo.releases.ranges import NoRanges
from gonogo.releases.remote_wheel import remote_wheel
from gonogo.releases.store import read_record, write_record

_LAYOUT = 3
_DEEPEST = 6  # star imports within star imports
_COMPILED = {".so", ".pyd"}


class Surfaces:
    """What distributions hold, as far as anybody asks. ``folder`` keeps it (None: nowhere)."""

    def __init__(self, folder: Path | None, progress: Progress | None = None) -> None:
        """Nothing is fetched yet."""
        self._folder = folder
        self._progress = progress or Progress()
        self._known: dict[tuple[str, str], dict[str, Any] | None] = {}
        self._wheels: dict[tuple[str, str], ArchiveFile | None] = {}

    def has(self, distribution: str, version: str, name: str) -> bool | None:
        """Whether ``name`` (``a.b`` or ``a.b.C``) is a module of this distribution, or a name that one of its modules binds.

        None where that cannot be told: the index is out of reach, the module is compiled, or makes its names as it runs.
        """
        key = (distribution, version)
        record = self._known_record(key)
        if record is None:
            return None
        module, rest = _module_in(record["files"], name)
        if not module:
            return None
        if not rest:
            return True
        before = len(record["names"])
        found = self._binds(record, key, module, rest[0], _DEEPEST)
        if len(record["names"]) > before:
            self._keep(key, record)
        if len(rest) == 1 or found is False:
            return found
        if len(rest) == 2 and self._has_member(record, key, module, rest[0], rest[1], _DEEPEST):
            found = True
        else:
            found = None
        if len(record["names"]) > before:
            self._keep(key, record)
        return found

    def text(self, distribution: str, version: str, module: str) -> str | None:
        """The text of a module; empty where the distribution has none in Python, None where that cannot be told."""
        key = (distribution, version)
        record = self._known_record(key)
        if record is None:
            return None
        file = _file_of(record["files"], module)
        if file is None or PurePosixPath(file).suffix in _COMPILED:
            return ""
        try:
            content = self._member(key, file)
            return None if content is None else content.decode()
        except (OwnProblem, NoRanges):
            return None
        except UnicodeDecodeError:
            return ""

    def _known_record(self, key: tuple[str, str]) -> dict[str, Any] | None:
        if key not in self._known:
            self._known[key] = self._record(*key)
        return self._known[key]

    def _member(self, key: tuple[str, str], file: str) -> bytes | None:
        wheel = self._wheel(key)
        if wheel is None:
            return None
        with remote_wheel(wheel, lambda _done, _total: None) as remote:
            (member,) = remote.members([file])
            return member.read(1 << 24)

    def _has_member(
        self, record: dict[str, Any], key: tuple[str, str], module: str, name: str, member: str, depth: int
    ) -> bool:
        """Whether the class ``name``, in the module or where that has it from, binds ``member`` in its own body."""
        file = _file_of(record["files"], module)
        if file is None or PurePosixPath(file).suffix in _COMPILED or depth == 0:
            return False
        if file not in record["names"]:
            record["names"][file] = self._read(key, file)
        told = record["names"][file]
        if told is None:
            return False
        if name in told["members"]:
            return member in told["members"][name]
        source = told["origins"].get(name)
        return source is not None and self._has_member(record, key, source[0], source[1], member, depth - 1)

    def _binds(self, record: dict[str, Any], key: tuple[str, str], module: str, name: str, depth: int) -> bool | None:
        file = _file_of(record["files"], module)
        if file is None or PurePosixPath(file).suffix in _COMPILED or depth == 0:
            return None
        if file not in record["names"]:
            record["names"][file] = self._read(key, file)
        told = record["names"][file]
        if told is None:
            return None
        if name in told["names"]:
            return True
        answers: list[bool | None] = [None] if "__getattr__" in told["names"] else []
        answers += [self._binds(record, key, star, name, depth - 1) if star else None for star in told["stars"]]
        return True if True in answers else None if None in answers else False

    def _read(self, key: tuple[str, str], file: str) -> dict[str, Any] | None:
        """The names that a module binds, and the modules whose names it takes over all; None where that cannot be had."""
        try:
            content = self._member(key, file)
            if content is None:
                return None
            tree = ast.parse(content)
        except (OwnProblem, NoRanges, SyntaxError, ValueError):
            return None
        package = PurePosixPath(file).parent.as_posix().replace("/", ".")
        names: set[str] = set()
        stars: list[str] = []
        for kind, value in _bound(tree.body, package):
            (names.add if kind == "name" else stars.append)(value)
        return {"names": sorted(names), "stars": stars, "members": _members(tree), "origins": _origins(tree, package)}

    def _record(self, distribution: str, version: str) -> dict[str, Any] | None:
        path = self._path((distribution, version))
        known = read_record(path) if path is not None else None
        if known is not None and known.get("layout") == _LAYOUT:
            return known
        try:
            self._progress.say(f"asking what {distribution} {version} holds")
            wheel = self._wheel((distribution, version))
            if wheel is None:
                return None
            with remote_wheel(wheel, lambda _done, _total: None) as remote:
                files = sorted(name for name in remote.names if name.endswith((".py", *_COMPILED)))
        except (OwnProblem, NoSuchPackage, NoRanges):
            return None
        finally:
            self._progress.clear()
        record = {"layout": _LAYOUT, "files": files, "names": {}}
        self._keep((distribution, version), record)
        return record

    def _wheel(self, key: tuple[str, str]) -> ArchiveFile | None:
        if key not in self._wheels:
            self._wheels[key] = nearest_wheel(release_info(*key))
        return self._wheels[key]

    def _keep(self, key: tuple[str, str], record: dict[str, Any]) -> None:
        path = self._path(key)
        if path is not None:
            try:
                write_record(path, record)
            except OSError:
                return  # only the next run has to ask again

    def _path(self, key: tuple[str, str]) -> Path | None:
        return None if self._folder is None else self._folder / f"{key[0]}-{key[1]}.json"


def _members(tree: ast.Module) -> dict[str, list[str]]:
    """Class → names that its own body binds; what it has from its bases is not among them."""
    return {
        node.name: sorted({value for kind, value in _bound(node.body, "") if kind == "name"})
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _origins(tree: ast.Module, package: str) -> dict[str, tuple[str, str]]:
    """Name → the module that it is imported from, and its name there."""
    return {
        one.asname or one.name: (_source(node, package), one.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
        if one.name != "*"
    }


def _source(statement: ast.ImportFrom, package: str) -> str:
    """The full name of the module that a statement imports from."""
    base = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
    return ".".join([*base, *([statement.module] if statement.module else [])])


def _module_in(files: list[str], name: str) -> tuple[str, list[str]]:
    """The longest part of a dotted name that is a module among ``files``, and what is left."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        if _file_of(files, module) is not None or any(file.startswith(f"{'/'.join(parts[:count])}/") for file in files):
            return module, parts[count:]
    return "", parts


def _file_of(files: list[str], module: str) -> str | None:
    """The file of a module; None for a folder without one."""
    path = module.replace(".", "/")
    exact = {f"{path}/__init__.py", f"{path}.py"}
    for file in files:
        if file in exact or (file.startswith(f"{path}.") and PurePosixPath(file).suffix in _COMPILED):
            return file
    return None


def _bound(statements: list[ast.stmt], package: str) -> Iterator[tuple[str, str]]:
    """("name", a name that these statements bind) and ("star", a module all of whose names they take; "" for a foreign one)."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield "name", statement.name
        elif isinstance(statement, ast.Import):
            yield from (("name", (one.asname or one.name).partition(".")[0]) for one in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            for one in statement.names:
                if one.name != "*":
                    yield "name", one.asname or one.name
                    continue
                source = _source(statement, package)
                yield "star", source if source.partition(".")[0] == package.partition(".")[0] else ""
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield "name", node.id
                elif isinstance(node, ast.Attribute) and "globals" in ast.dump(node):
                    yield "star", ""  # it makes names as it runs
            for field in ("body", "orelse", "finalbody"):
                yield from _bound([one for one in getattr(statement, field, []) if isinstance(one, ast.stmt)], package)
            for handler in getattr(statement, "handlers", []):
                yield from _bound(handler.body, package)
