"""What a checkout says of itself, in texts: version, requirements, entry points. Nothing of it is run."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from gonogo.engines.types import Engine
from gonogo.releases.git import Commit

_UNKNOWN = "0+unknown"
_LARGEST = 4 << 20  # bytes of a text that is read


@dataclass(frozen=True)
class Declared:
    """``requirements`` are Requires-Dist lines, ``entry_points`` groups of names with what they stand for."""

    version: str
    requires_python: str
    requirements: tuple[str, ...]
    entry_points: dict[str, dict[str, str]]
    notes: tuple[str, ...] = ()

    def metadata(self, engine: Engine) -> str:
        """The METADATA that it would be installed with."""
        lines = ["Metadata-Version: 2.1", f"Name: {engine.name}", f"Version: {self.version}"]
        lines += [f"Requires-Python: {self.requires_python}"] if self.requires_python else []
        return "".join(f"{line}\n" for line in [*lines, *(f"Requires-Dist: {one}" for one in self.requirements)])

    def version_file(self, package: Path) -> str | None:
        """What a build would write into ``_version.py``; None where the package has that file, or knows of none."""
        if (package / "_version.py").exists() or "_version" not in _read(package / "version.py"):
            return None
        version = Version(self.version)
        parts: list[int | str] = [*version.release, *([f"dev{version.dev}"] if version.dev is not None else [])]
        parts += [version.local] if version.local else []
        return f"__version__ = version = {self.version!r}\n__version_tuple__ = version_tuple = {tuple(parts)!r}\n"

    def entry_points_text(self) -> str:
        """The entry_points.txt that it would be installed with."""
        lines: list[str] = []
        for group, points in self.entry_points.items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
        return "".join(f"{line}\n" for line in lines)


def declared_in(engine: Engine, folder: Path, commit: Commit | None) -> Declared:
    """What the checkout whose package stands in ``folder`` declares; ``commit`` is the one that is checked out."""
    project = _pyproject(folder)
    requirements, notes = _requirements(engine, folder, project)
    return Declared(
        version=_version(folder / engine.package, project, commit),
        requires_python=_text(project.get("requires-python") or _passed(folder, "python_requires")),
        requirements=requirements,
        entry_points=_entry_points(folder, project),
        notes=notes,
    )


def _pyproject(folder: Path) -> dict[str, Any]:
    try:
        project = tomllib.loads(_read(folder / "pyproject.toml")).get("project")
    except ValueError:
        project = None
    return project if isinstance(project, dict) else {}


def _read(path: Path) -> str:
    """The text of a file; empty where there is none, or a link, or too much of it."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return ""
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


# -- version


def _version(package: Path, project: dict[str, Any], commit: Commit | None) -> str:
    """The first that is told: by the package's own file, by pyproject, by git's tags."""
    told = [version_told_by(_read(package / name)) for name in ("_version.py", "version.py")]
    found = next((version for version in [*told, _plain(project.get("version"))] if version), None)
    return found or (version_of(commit) if commit is not None else None) or _UNKNOWN


def version_told_by(text: str) -> str | None:
    """What the code of a module sets ``__version__`` to, where that is a plain text."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for statement in body:
        names = {target.id for target in getattr(statement, "targets", ()) if isinstance(target, ast.Name)}
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and "__version__" in names and isinstance(value, ast.Constant):
            return _plain(value.value)
    return None


def version_of(commit: Commit) -> str:
    """The version of a commit by its tag, as setuptools_scm counts: so many commits on the way to the next."""
    label = f"+g{commit.sha[:9]}"
    tag = _plain(commit.tag)
    if tag is None:
        return f"0.1.dev0{label}"
    if commit.since == 0:
        return tag
    version = Version(tag)
    release = ".".join(map(str, version.release))
    if version.pre is not None:
        following = f"{release}{version.pre[0]}{version.pre[1] + 1}"
    elif version.post is not None:
        following = f"{release}.post{version.post + 1}"
    else:
        following = ".".join(map(str, (*version.release[:-1], version.release[-1] + 1)))
    return f"{following}.dev{commit.since}{label}"


def _plain(value: object) -> str | None:
    try:
        return str(Version(value)) if isinstance(value, str) else None
    except InvalidVersion:
        return None


# -- requirements


def _requirements(engine: Engine, folder: Path, project: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Requires-Dist lines, and what is to be said of those that are left out."""
    listed = project.get("dependencies")
    lines = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    if not lines:
        names = [str(name) for name in engine.table.get("checkout", {}).get("requirements", [])]
        first = next((name for name in names if (folder / name).is_file()), None)
        lines = list(_lines_of(folder, Path(first), set())) if first else []
    lines += _extras(project)
    found, notes = [], []
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:  # an option of pip's, or something that no index has
            continue
        if requirement.url is not None:
            notes.append(f"{requirement.name} is left out: it is not on the package index but at an address of its own")
            continue
        found.append(str(requirement))
    return tuple(found), tuple(notes)


def _lines_of(folder: Path, name: Path, seen: set[Path]) -> Iterator[str]:
    """The requirements in a file of pip's, and in those that it includes, never outside of ``folder``."""
    path = (folder / name).resolve()
    if path in seen or not path.is_relative_to(folder.resolve()):
        return
    seen.add(path)
    for line in _read(path).replace("\\\n", " ").splitlines():
        text = re.sub(r"(^|\s)#.*", "", line).strip()
        if included := re.fullmatch(r"(?:-r|--requirement)[ =]?\s*(\S+)", text):
            yield from _lines_of(folder, name.parent / included[1], seen)
        elif text:
            yield re.sub(r"\s--hash[ =].*", "", text)


def _extras(project: dict[str, Any]) -> Iterator[str]:
    extras = project.get("optional-dependencies")
    for extra, lines in extras.items() if isinstance(extras, dict) else ():
        for line in lines if isinstance(lines, list) else ():
            wanted, _, marker = str(line).partition(";")
            yield (
                f'{wanted} ; ({marker}) and extra == "{extra}"' if marker.strip() else f'{wanted} ; extra == "{extra}"'
            )


# -- entry points


def _entry_points(folder: Path, project: dict[str, Any]) -> dict[str, dict[str, str]]:
    groups: dict[str, Any] = {}
    if isinstance(project.get("entry-points"), dict):
        groups |= project["entry-points"]
    if isinstance(project.get("scripts"), dict):
        groups["console_scripts"] = project["scripts"]
    if not groups:
        passed = _passed(folder, "entry_points")
        groups = passed if isinstance(passed, dict) else {}
    found = {str(group): _points(points) for group, points in groups.items()}
    return {group: points for group, points in found.items() if points and _is_name(group)}


def _passed(folder: Path, name: str) -> object:
    """What the text of setup.py passes under that name, where it is written out; else None."""
    try:
        for node in ast.walk(ast.parse(_read(folder / "setup.py"))):
            if isinstance(node, ast.keyword) and node.arg == name:
                value: object = ast.literal_eval(node.value)
                return value
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        pass
    return None


def _points(told: object) -> dict[str, str]:
    """Names and targets of one group, given as a table or as ``name = target`` lines."""
    if isinstance(told, dict):
        rows: Iterable[tuple[Any, Any]] = told.items()
    else:
        lines = told if isinstance(told, (list, tuple)) else str(told).splitlines()
        rows = [str(line).partition("=")[::2] for line in lines]
    pairs = ((str(name).strip(), str(target).strip()) for name, target in rows)
    return {name: target for name, target in pairs if _is_name(name) and re.fullmatch(r"[\w.]+(:[\w.]+)?", target)}


def _is_name(text: str) -> bool:
    return bool(re.fullmatch(r"[\w.-]+", text))
