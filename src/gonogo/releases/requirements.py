"""What a release's declared requirements come to: every package in the version that its container image has."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from gonogo.engines.types import Engine
from gonogo.releases.concessions import Concessions, concede, in_uv
from gonogo.releases.python import ChildPython
from gonogo.releases.run_uv import is_network, problem, run_uv
from gonogo.releases.store import Store

_IMAGE_PLATFORM = "x86_64-manylinux_2_35"
_IMAGE = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
# A release's own packages are uploaded one by one: what it was built with may come some hours after it.
_A_LITTLE = timedelta(days=1)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")

_Graph = dict[str, tuple[str, set[str]]]
"""Of each package its version, and who asks for it: ``""`` is the release itself."""


@dataclass(frozen=True)
class Resolution:
    """Versions by normalised name: of all distributions, and of those ``installed`` in the light environment."""

    versions: dict[str, str]
    installed: dict[str, str]
    notes: tuple[str, ...] = ()


def resolve(
    store: Store, engine: Engine, requirements: Iterable[str], date: datetime | None, python: ChildPython
) -> Resolution:
    """The versions that ``requirements`` had on ``date`` on the platform of the engine's image, as uv finds them.

    Without ``date``, from an index that does not tell when files were uploaded, the newest, with a note.
    Of ``[environment]`` in the engine's table, ``without`` names the distributions (``*`` allowed) that are left out,
    with what only they need, ``also`` those that stay even so, ``extras`` the extras of the engine that its image has.
    Raises OwnProblem where the index cannot be reached or the requirements cannot be met.
    """
    without = [str(name) for name in engine.table.get("environment", {}).get("without", [])]
    extras = [str(name) for name in engine.table.get("environment", {}).get("extras", [])]
    wanted = for_image(engine.name, requirements, extras, python)
    with store.partial("resolution") as workspace, store.writing(f"the packages of {engine.name}"):
        graph, conceded = _ask_uv(engine, wanted, without, date, python, workspace)
    versions = {name: version for name, (version, _) in graph.items()} | conceded.left_out
    for one in wanted:  # those that had to be left to themselves
        if pin := re.fullmatch(r"==\s*([^*,]+)", str(one.specifier)):
            versions.setdefault(canonicalize_name(one.name), pin[1])
    also = [str(name) for name in engine.table.get("environment", {}).get("also", [])]
    installed = {name: versions[name] for name in needed(graph, without, also)}
    undated = "the package index does not tell when files were uploaded: packages may be newer than the release"
    notes = conceded.notes if date else (undated, *conceded.notes)
    return Resolution(dict(sorted(versions.items())), dict(sorted(installed.items())), notes)


def _ask_uv(
    engine: Engine,
    wanted: list[Requirement],
    without: list[str],
    date: datetime | None,
    python: ChildPython,
    workspace: Path,
) -> tuple[_Graph, Concessions]:
    (workspace / "requirements.in").write_text("".join(f"{one}\n" for one in wanted))
    excludes = workspace / "excludes.txt"
    answer = workspace / "resolved.txt"
    command = ["pip", "compile", "requirements.in", "--quiet", "--no-header", "--output-file", answer.name]
    command += ["--annotation-style", "split", "--no-build", "--python-platform", _IMAGE_PLATFORM]
    command += ["--python", str(python.path)]
    until = date + _A_LITTLE if date is not None else None
    if until is not None:
        command += ["--exclude-newer", in_uv(until)]
    said = run_uv(command, workspace)
    # One that is left out anyway may have no wheel, or stand on another index: it need not be resolved. What only it asks
    # for is lost with it, so no more of them are excluded than uv complains about.
    optional = {str(canonicalize_name(one.name)) for one in wanted if _matches(one.name, without)}
    excluded: set[str] = set()
    made = Concessions()
    while said is not None and not is_network(said):
        blamed = {str(canonicalize_name(word)) for word in _NAME.findall(said)} & optional - excluded
        if blamed:
            excluded |= blamed
        elif (attempt := concede(said, until, made)) is not None:
            made = attempt
        elif excluded != optional:
            excluded = optional
        else:
            break
        excludes.write_text("".join(f"{name}\n" for name in sorted({*excluded, *made.left_out})))
        said = run_uv([*command, "--excludes", excludes.name, *made.options], workspace)
    if said is not None:
        raise problem(f"the packages that {engine.name} needs", said)
    return read_answer(answer.read_text()), made


def for_image(
    project: str, requirements: Iterable[str], extras: Iterable[str], python: ChildPython
) -> list[Requirement]:
    """Those of a project's requirements that hold in its image, without their markers: its own and those of ``extras``.

    Where a project asks for itself with more extras, these hold too.
    """
    environment = _IMAGE | {"python_version": python.series, "python_full_version": python.version}
    declared = list(_parsed(requirements))
    held: list[Requirement] = []
    waiting, done = ["", *extras], set[str]()
    while waiting:
        extra = waiting.pop(0)
        if extra in done:
            continue
        done.add(extra)
        for requirement in declared:
            marker = requirement.marker
            if requirement in held or not (marker is None or marker.evaluate(environment | {"extra": extra})):
                continue
            held.append(requirement)
            if canonicalize_name(requirement.name) == project:
                waiting += sorted(requirement.extras)
    wanted = []
    for requirement in held:
        requirement.marker = None
        if canonicalize_name(requirement.name) != project:
            wanted.append(requirement)
    return wanted


def _parsed(lines: Iterable[str]) -> Iterator[Requirement]:
    for line in lines:
        try:
            yield Requirement(line)
        except InvalidRequirement:  # from before names and versions had rules
            continue


def read_answer(text: str) -> _Graph:
    """The packages in uv's requirements file, and from its ``# via`` comments who asks for each."""
    graph: _Graph = {}
    asked_by: set[str] = set()
    for line in text.splitlines():
        if pin := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            asked_by = set()
            graph[canonicalize_name(pin[1])] = (pin[2], asked_by)
        elif (comment := re.match(r"\s+#\s+(?:via\b\s*)?(.*)", line)) and (who := comment[1].strip()):
            asked_by.add("" if who.startswith("-r ") else canonicalize_name(who))
    return graph


def needed(graph: _Graph, without: Sequence[str], also: Sequence[str] = ()) -> set[str]:
    """What the release asks for, and what that asks for, except what is left ``without``.

    ``also`` are needed in their own right, though perhaps only a package that is left out asks for them.
    """
    found = {"", *(name for name in graph if _matches(name, also))}
    while more := {
        name
        for name, (_, asked_by) in graph.items()
        if name not in found and not asked_by.isdisjoint(found) and not _matches(name, without)
    }:
        found |= more
    return found - {""}


def _matches(name: str, patterns: Sequence[str]) -> bool:
    plain = canonicalize_name(name)
    return any(fnmatch.fnmatchcase(plain, canonicalize_name(pattern)) for pattern in patterns)
