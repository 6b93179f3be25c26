"""The packages of an engine that is installed: what stands beside it, in the versions that are there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from gonogo.engines.types import Engine
from gonogo.releases.python import ChildPython
from gonogo.releases.requirements import Resolution, needed, read_answer
from gonogo.releases.run_uv import is_network, problem, run_uv
from gonogo.releases.store import Store
from gonogo.releases.types import Beside


def resolve_pinned(
    store: Store, engine: Engine, requirements: Iterable[str], beside: Mapping[str, Beside], python: ChildPython
) -> Resolution:
    """The versions that are installed; for the light environment those of them that the index has.

    A package that does not come from an index, or in a version that it has not, is taken in the newest version that the
    engine allows, and that is told. Raises OwnProblem where the index cannot be reached.
    """
    allowed = dict(_parsed(requirements))
    wanted = _wanted(engine, allowed, beside)
    pinned = {name: Version(beside[name].version).public for name in wanted if not beside[name].elsewhere}
    free = [name for name in wanted if name not in pinned]
    installed: dict[str, str] = {}
    while wanted:
        lines = [f"{name}=={version}" for name, version in pinned.items()]
        lines += [f"{name}{allowed.get(name, '')}" for name in free]
        with store.partial("resolution") as workspace, store.writing(f"the packages of {engine.name}"):
            (workspace / "requirements.in").write_text("".join(f"{line}\n" for line in lines))
            command = ["pip", "compile", "requirements.in", "--quiet", "--no-header", "--output-file", "resolved.txt"]
            command += ["--no-deps", "--no-build", "--annotation-style", "split", "--python", str(python.path)]
            said = run_uv(command, workspace)
            if said is None:
                installed = {
                    name: one[0] for name, one in read_answer((workspace / "resolved.txt").read_text()).items()
                }
                break
        culprits = [name for name in pinned if _is_about(name, pinned[name], said)] if not is_network(said) else []
        lost = [name for name in free if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said)]
        if not culprits and not (lost and not is_network(said)):
            raise problem(f"the packages that are installed beside {engine.name}", said)
        for name in culprits:
            del pinned[name]
        free = [name for name in (*free, *culprits) if name not in lost]
    versions = {name: one.version for name, one in beside.items()}
    notes = [
        f"{name} is taken in version {installed[name]}: the installed {beside[name].version} is not on the package index"
        for name in free
    ]
    missing = sorted(set(wanted) - set(installed))
    notes += [f"{name} {beside[name].version} is left out: it is not on the package index" for name in missing]
    return Resolution(dict(sorted(versions.items())), dict(sorted(installed.items())), tuple(notes))


def _wanted(engine: Engine, allowed: Mapping[str, str], beside: Mapping[str, Beside]) -> list[str]:
    """What of that which is installed goes into the light environment."""
    table = engine.table.get("environment", {})
    own = {name for name, one in beside.items() if name == engine.name or engine.package in one.imports}
    asked_by: dict[str, set[str]] = {name: set() for name in beside}
    for name, one in beside.items():
        for need in one.needs:
            if need in asked_by:
                asked_by[need].add("" if name in own else name)
    for name in asked_by:
        # an engine that declares nothing needs whatever stands beside it
        asked_by[name] |= {""} if name in allowed or not allowed else set()
    graph = {name: (beside[name].version, who) for name, who in asked_by.items() if name not in own}
    return sorted(needed(graph, table.get("without", []), table.get("also", [])))


def _parsed(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Names and version ranges of requirements."""
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.url is None:
            yield canonicalize_name(requirement.name), str(requirement.specifier)


def _is_about(name: str, version: str, said: str) -> bool:
    """Whether uv names this package in this version as what it cannot have."""
    return re.search(rf"(?<![\w-]){re.escape(name)}=={re.escape(version)}(?![\w.]*\w)", said) is not None
