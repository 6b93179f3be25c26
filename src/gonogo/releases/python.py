"""A Python that a release allows: the running one, else another that uv finds on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from gonogo.problems import UsageProblem


@dataclass(frozen=True)
class ChildPython:
    """A Python to run a release's start-up code with. ``version`` has three parts (``3.11.7``)."""

    path: Path
    version: str

    @property
    def series(self) -> str:
        """The part of the version that wheels and bytecode depend on: ``3.11``."""
        return ".".join(self.version.split(".")[:2])


def running() -> ChildPython:
    """The Python of this process: the interpreter itself, not a virtual environment, which may go sooner."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    path = Path(base)
    return ChildPython(path if path.exists() else Path(sys.executable), ".".join(map(str, sys.version_info[:3])))


def allows(requires_python: str, version: str) -> bool:
    """Whether a release that declares ``requires_python`` may run on Python ``version``; an empty one allows all."""
    try:
        return SpecifierSet(requires_python).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


def python_for(requires_python: str, release: str) -> ChildPython:
    """The Python to run ``release`` with. Raises UsageProblem, saying which is needed, where the machine has none."""
    here = running()
    if allows(requires_python, here.version):
        return here
    found = _found_by_uv(requires_python)
    if found is None:
        raise UsageProblem(
            f"{release} needs Python {requires_python}; this is Python {here.version} and there is no other:"
            f" install one that fits (for instance with `uv python install`)"
        )
    return found


def _found_by_uv(requires_python: str) -> ChildPython | None:
    import uv

    # --system: not the working folder's .venv, which uv would run to hear its version, and which may be anyone's
    options = ["--system", "--no-config", "--no-project", "--no-python-downloads"]
    command = [uv.find_uv_bin(), "python", "find", *options, requires_python]
    environ = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    try:
        path = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environ, timeout=60
        ).stdout.strip()
        version = subprocess.run(
            [path, "-I", "-S", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return ChildPython(Path(path), version) if allows(requires_python, version) else None
