"""A light environment on disk: a site folder with the packages that a release's start-up code imports.

Environments share files by hard links: a package that one has in the same version is not fetched for the next.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import shutil
import sys
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from gonogo.releases.dead_weight import patterns, strip
from gonogo.releases.python import ChildPython
from gonogo.releases.run_uv import problem, run_uv
from gonogo.releases.store import Store, read_record, write_record

_LAYOUT = 2


def identity(installed: dict[str, str], python: ChildPython) -> str:
    """The name of an environment: the same for the same packages, Python and platform."""
    return hashlib.sha256(json.dumps([_make(python), sorted(installed.items())]).encode()).hexdigest()[:16]


def build(store: Store, installed: dict[str, str], python: ChildPython) -> str:
    """Make the environment with the packages ``installed``, if it is not there yet; returns its name.

    Call with the lock of environments held. Raises OwnProblem where a package cannot be had.
    """
    name = identity(installed, python)
    place = store.environment(name)
    if read_record(place / "record.json") is not None and (place / "site").is_dir():
        return name
    with store.partial(name) as workspace, store.writing("the packages of a release"):
        made = workspace / "made"
        site = made / "site"
        site.mkdir(parents=True)
        missing = _share(store, site, installed, python)
        if missing:
            _install(missing, site, python, workspace)
            strip(site)
        write_record(made / "record.json", {"make": _make(python), "installed": installed})
        store.publish(made, place)
    return name


def _make(python: ChildPython) -> str:
    """Environments of the same make can share files."""
    rules = hashlib.sha256(json.dumps(patterns()).encode()).hexdigest()[:8]
    return f"{_LAYOUT} {sys.implementation.name}-{python.series} {sys.platform}-{platform.machine()} {rules}"


def _install(packages: dict[str, str], site: Path, python: ChildPython, workspace: Path) -> None:
    (workspace / "install.txt").write_text("".join(f"{name}=={version}\n" for name, version in packages.items()))
    command = ["pip", "install", "--quiet", "--no-deps", "--no-build", "--link-mode", "hardlink", "--target", str(site)]
    said = run_uv([*command, "--python", str(python.path), "--requirements", "install.txt"], workspace)
    if said is not None:
        raise problem("the packages of a release", said)


def _share(store: Store, site: Path, installed: dict[str, str], python: ChildPython) -> dict[str, str]:
    """Fill ``site`` with links to what other environments of the same make hold; returns what is still missing."""
    missing = dict(installed)
    for environment in store.environments():
        record = read_record(environment / "record.json")
        if record is None or record.get("make") != _make(python):
            continue
        for folder in (environment / "site").glob("*.dist-info"):
            name, _, version = folder.name.removesuffix(".dist-info").partition("-")
            if missing.get(canonicalize_name(name)) == version and _link(folder, site):
                del missing[canonicalize_name(name)]
    return missing


def _link(metadata: Path, site: Path) -> bool:
    """Link the files of one distribution, its bytecode too; False, with its metadata taken back, where that fails."""
    theirs = metadata.parent
    try:
        with (metadata / "RECORD").open(newline="") as record:
            names = [PurePosixPath(row[0]) for row in csv.reader(record) if row]
        for name in names:
            if name.is_absolute() or ".." in name.parts or not (theirs / name).is_file():
                continue  # a script, or dead weight
            bytecode = (theirs / name.parent).glob(f"__pycache__/{name.stem}.*.pyc") if name.suffix == ".py" else ()
            for source in (theirs / name, *bytecode):
                target = site / source.relative_to(theirs)
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.exists():
                    _link_or_copy(source, target)
    except (FileNotFoundError, csv.Error, UnicodeDecodeError):  # damaged, or just being removed
        shutil.rmtree(site / metadata.name, ignore_errors=True)
        return False
    return True


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(source, target)  # a file system without hard links, or one name too many for a file
