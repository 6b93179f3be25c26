"""The light environment of a release: the packages that its start-up code imports, without torch, CUDA and friends.

What a release declares is resolved in full, for the platform of its container image and as of its date, so that each package has
the version that the image has. Of that only what start-up code needs is installed.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from gonogo.engines.types import Engine
from gonogo.problems import OwnProblem
from gonogo.releases.python import ChildPython
from gonogo.releases.settings import index_address
from gonogo.releases.store import Store, read_record, write_record

_IMAGE_PLATFORM = "x86_64-manylinux_2_35"
_IMAGE = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "extra": "",
}
# Packages are uploaded one by one: what a release was built with may come some hours after it.
_A_LITTLE = timedelta(days=1)
_LAYOUT = 1

# What no import needs: sources for a compiler, stubs for a type checker, tests, scripts, licence texts.
_UNNEEDED_SUFFIXES = {".pyi", ".pyx", ".pxd", ".c", ".cc", ".cpp", ".h", ".hpp", ".f", ".f90", ".a", ".lib"}
_UNNEEDED_FOLDERS = {"tests", "licenses", "sboms"}


@dataclass(frozen=True)
class Resolution:
    """What a release's requirements come to. ``versions`` are all distributions, ``installed`` those of the light environment."""

    versions: dict[str, str]
    installed: dict[str, str]
    notes: tuple[str, ...] = ()


def resolve(
    store: Store, engine: Engine, requirements: Iterable[str], date: datetime, python: ChildPython
) -> Resolution:
    """The versions that ``requirements`` had on ``date`` on the platform of the engine's image, as uv finds them.

    ``[environment] without`` in the engine's table names the distributions (``*`` allowed) that are left out, together with
    what only they need. Raises OwnProblem where the index cannot be reached or the requirements cannot be met.
    """
    without = [str(name) for name in engine.table.get("environment", {}).get("without", [])]
    wanted = list(_for_image(requirements, python))
    with store.partial("resolution") as workspace, store.writing("the packages of a release"):
        graph, notes = _resolved(engine, wanted, without, date, python, workspace)
    versions = {name: version for name, (version, _) in graph.items()}
    for one in wanted:
        pin = re.fullmatch(r"==\s*([^*,]+)", str(one.specifier))
        if pin:
            versions.setdefault(canonicalize_name(one.name), pin[1])
    installed = {name: versions[name] for name in _needed(graph, without)}
    return Resolution(dict(sorted(versions.items())), dict(sorted(installed.items())), notes)


def _resolved(
    engine: Engine, wanted: list[Requirement], without: list[str], date: datetime, python: ChildPython, workspace: Path
) -> tuple[dict[str, tuple[str, set[str]]], tuple[str, ...]]:
    (workspace / "requirements.in").write_text("".join(f"{one}\n" for one in wanted))
    (workspace / "excludes.txt").write_text("".join(f"{one.name}\n" for one in wanted if _matches(one.name, without)))
    as_of = (date + _A_LITTLE).strftime("%Y-%m-%dT%H:%M:%SZ")
    command = [
        "pip",
        "compile",
        "requirements.in",
        "--quiet",
        "--no-header",
        "--annotation-style",
        "split",
        "--no-build",
    ]
    command += ["--python", str(python.path), "--python-platform", _IMAGE_PLATFORM, "--output-file", "resolved.txt"]
    notes: tuple[str, ...] = ()
    dated = [*command, "--exclude-newer", as_of]
    problem = _uv(dated, workspace)
    if problem is not None and not _is_network(problem):
        # A left-out package that has no wheel, or stands on another index, need not be resolved.
        problem = _uv([*dated, "--excludes", "excludes.txt"], workspace)
    if problem is not None and "exclude-newer" in problem and "upload" in problem:
        notes = ("the package index does not tell when files were uploaded: packages are newer than the release",)
        problem = _uv(command, workspace)
    if problem is not None:
        raise _problem(f"the packages that {engine.name} needs", problem)
    return _read_resolved((workspace / "resolved.txt").read_text()), notes


def identity(engine: Engine, installed: dict[str, str], python: ChildPython) -> str:
    """The name of an environment: the same for the same packages, Python and platform."""
    content = [
        _LAYOUT,
        sorted(installed.items()),
        python.series,
        sys.platform,
        platform.machine(),
        _strip_rules(engine),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def build(store: Store, engine: Engine, installed: dict[str, str], python: ChildPython, name: str) -> Path:
    """Make the environment that :func:`identity` calls ``name``, if it is not there yet; returns its ``site`` folder.

    A distribution that another environment has already is shared with it by hard links. Call with the environment's lock held.
    """
    place = store.environment(name)
    if read_record(place / "record.json") is not None:
        return place / "site"
    with store.partial(name) as workspace, store.writing("the packages of a release"):
        made = workspace / "made"
        site = made / "site"
        site.mkdir(parents=True)
        missing = _shared(store, site, installed, python, _strip_rules(engine))
        if missing:
            _install(missing, site, python, workspace)
            _strip(site, _strip_rules(engine))
        record = {
            "layout": _LAYOUT,
            "installed": installed,
            "python": python.series,
            "platform": [sys.platform, platform.machine()],
            "strip": _strip_rules(engine),
        }
        write_record(made / "record.json", record)
        made.chmod(0o755)
        store.publish(made, place)
    return place / "site"


def _for_image(requirements: Iterable[str], python: ChildPython) -> Iterable[Requirement]:
    environment = _IMAGE | {"python_version": python.series, "python_full_version": python.version}
    for line in requirements:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate(environment):
            requirement.marker = None
            yield requirement


def _matches(name: str, patterns: Sequence[str]) -> bool:
    plain = canonicalize_name(name)
    return any(fnmatch.fnmatchcase(plain, canonicalize_name(pattern)) for pattern in patterns)


def _read_resolved(text: str) -> dict[str, tuple[str, set[str]]]:
    """``name -> (version, who asks for it)`` from uv's answer; whoever is a file stands for the release itself: ``""``."""
    graph: dict[str, tuple[str, set[str]]] = {}
    asked_by: set[str] = set()
    for line in text.splitlines():
        if pin := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            asked_by = set()
            graph[canonicalize_name(pin[1])] = (pin[2], asked_by)
        elif comment := re.match(r"\s+#\s+(?:via\b\s*)?(.*)", line):
            who = comment[1].strip()
            if who:
                asked_by.add("" if who.startswith("-r ") else canonicalize_name(who))
    return graph


def _needed(graph: dict[str, tuple[str, set[str]]], without: Sequence[str]) -> set[str]:
    """What the release asks for, and what that asks for, without what is left out."""
    needed = {""}
    while True:
        more = {
            name
            for name, (_, asked_by) in graph.items()
            if name not in needed and asked_by & needed and not _matches(name, without)
        }
        if not more:
            return needed - {""}
        needed |= more


def _strip_rules(engine: Engine) -> list[str]:
    return sorted(str(pattern) for pattern in engine.table.get("environment", {}).get("strip", []))


def _unneeded(name: PurePosixPath, rules: Sequence[str]) -> bool:
    if name.suffix in _UNNEEDED_SUFFIXES or name.parts[0] == "bin":
        return True
    if not _UNNEEDED_FOLDERS.isdisjoint(name.parts[1:-1]):
        return True
    return any(fnmatch.fnmatchcase(str(name), rule) for rule in rules)


def _strip(site: Path, rules: Sequence[str]) -> None:
    for folder, _, files in os.walk(site, topdown=False):
        for file in files:
            path = Path(folder) / file
            if _unneeded(PurePosixPath(path.relative_to(site).as_posix()), rules):
                path.unlink()
        if not os.listdir(folder) and folder != str(site):
            os.rmdir(folder)


def _shared(
    store: Store, site: Path, installed: dict[str, str], python: ChildPython, rules: list[str]
) -> dict[str, str]:
    """Fill ``site`` with hard links to what other environments hold; returns what is still missing."""
    missing = dict(installed)
    same = {"layout": _LAYOUT, "python": python.series, "platform": [sys.platform, platform.machine()], "strip": rules}
    for environment in store.environments():
        record = read_record(environment / "record.json")
        if record is None or any(record.get(key) != value for key, value in same.items()):
            continue
        held = record.get("installed", {})
        for name, version in list(missing.items()):
            if held.get(name) == version and _link(environment / "site", site, name, version):
                del missing[name]
    return missing


def _link(theirs: Path, ours: Path, name: str, version: str) -> bool:
    """Link one distribution's files, bytecode too; False, with nothing of its metadata left, where that fails."""
    folder = _metadata_folder(theirs, name, version)
    if folder is None:
        return False
    try:
        files = [line.rsplit(",", 2)[0].strip('"') for line in (folder / "RECORD").read_text().splitlines()]
        for file in files:
            source = theirs / file
            if ".." in PurePosixPath(file).parts or not source.is_file():
                continue  # a script, or stripped
            sources = (
                [source, *source.parent.glob(f"__pycache__/{source.stem}.*.pyc")]
                if source.suffix == ".py"
                else [source]
            )
            for one in sources:
                target = ours / one.relative_to(theirs)
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.exists():
                    _link_or_copy(one, target)
    except OSError:
        shutil.rmtree(ours / folder.name, ignore_errors=True)
        return False
    return True


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)  # a file system without hard links, or one name too many


def _metadata_folder(site: Path, name: str, version: str) -> Path | None:
    for folder in site.glob("*.dist-info"):
        found, _, rest = folder.name.removesuffix(".dist-info").partition("-")
        if canonicalize_name(found) == name and rest == version:
            return folder
    return None


def _install(packages: dict[str, str], site: Path, python: ChildPython, workspace: Path) -> None:
    (workspace / "install.txt").write_text("".join(f"{name}=={version}\n" for name, version in packages.items()))
    command = ["pip", "install", "--quiet", "--no-deps", "--no-build", "--link-mode", "hardlink", "--target", str(site)]
    problem = _uv([*command, "--python", str(python.path), "--requirements", "install.txt"], workspace)
    if problem is not None:
        raise _problem("the packages of a release", problem)


# Settings of the user's that concern how an index is reached stay; those that would change what is resolved go.
_KEPT_VARIABLES = re.compile(
    r"UV_(INDEX(_.*)?|EXTRA_INDEX_URL|INDEX_STRATEGY|KEYRING_PROVIDER|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|HTTP_.*|OFFLINE)"
)


def _uv(arguments: list[str], workspace: Path) -> str | None:
    """Run uv in ``workspace`` with a cache of its own there; None when it did its work, else what it said."""
    import uv

    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("UV_") or _KEPT_VARIABLES.fullmatch(name)
    }
    environ.pop("VIRTUAL_ENV", None)
    environ["UV_CACHE_DIR"] = str(workspace / "uv")
    environ["UV_NO_PROGRESS"] = "1"
    if address := index_address():
        environ.pop("UV_INDEX_URL", None)
        environ["UV_DEFAULT_INDEX"] = address
    # The user's files are read in settings.py; uv must not read those of the working folder, which may be anyone's.
    command = [uv.find_uv_bin(), *arguments, "--no-config", "--no-python-downloads", "--color", "never"]
    done = subprocess.run(command, cwd=workspace, env=environ, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or f"uv ended with {done.returncode}"


def _is_network(said: str) -> bool:
    return any(
        words in said
        for words in ("error sending request", "Failed to fetch", "dns error", "timed out", "Connection refused")
    )


def _problem(what: str, said: str) -> OwnProblem:
    if "os error 28" in said or "No space left" in said:
        return OwnProblem(f"no space left for {what} in the cache: free some, or set GONOGO_CACHE to another folder")
    brief = re.sub(r"\S+://\S*@", "", " ".join(said.split()))[:400]
    if _is_network(said):
        return OwnProblem(f"cannot reach the package index for {what} (uv says: {brief})")
    return OwnProblem(f"cannot get {what} (uv says: {brief})")
