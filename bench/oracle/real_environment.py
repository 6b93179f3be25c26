"""A light environment with the real torch in it, for children in which torch is no stand-in.

The packages of the release's light environment stay as they are. Beside them come torch, and what is built on it, out of
the environment of a real engine (set_up.py), with the packages that those need and the light environment lacks.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

#: Import names that are real where the environment has them. What needs a GPU to be what it is (triton, kernels, the
#: vendors' libraries), and what is compiled with the engine, stays a stand-in.
REAL = (
    *("torch", "functorch", "torchgen", "torchvision", "numba", "llvmlite", "cv2", "compressed_tensors"),
    *("xgrammar", "tvm_ffi"),
)


@dataclass(frozen=True)
class RealEnvironment:
    """The environment of a real engine: its Python and the folder of its packages."""

    python: Path
    packages: Path

    @classmethod
    def at(cls, folder: Path) -> RealEnvironment:
        """The environment in ``folder``. Raises FileNotFoundError where there is none."""
        python = folder / "bin" / "python"
        if not python.exists():
            raise FileNotFoundError(f"no environment of a real engine in {folder}: make one with set_up.py")
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        told = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
        return cls(python, Path(told.strip()))

    def version(self, name: str) -> str:
        """The version of a distribution that is installed here, without its label (``2.13.0``)."""
        found = next(iter(importlib.metadata.distributions(name=name, path=[str(self.packages)])))
        return found.version.partition("+")[0]

    def join(self, light: Path, folder: Path, stand_ins: Iterable[str]) -> list[str]:
        """Make ``folder`` hold what ``light`` holds and the real packages; the import names of those.

        Nothing that ``stand_ins`` names is taken along, unless it is to be real. Files are linked, and none is changed.
        """
        not_taken = set(stand_ins) - set(REAL)
        folder.mkdir(parents=True)
        for entry in light.iterdir():
            _put(entry, folder / entry.name)
        there = {_import_name(entry.name) for entry in light.iterdir()}
        real = there & set(REAL)
        for entry in self._needed(not_taken | there):
            _put(entry, folder / entry.name)
            real.add(_import_name(entry.name))
        return sorted(real)

    def _needed(self, not_taken: set[str]) -> Iterator[Path]:
        """Top-level files and folders of the real packages and of all that they need, but for distributions ``not_taken``."""
        known = {
            canonicalize_name(one.metadata["Name"]): one
            for one in importlib.metadata.distributions(path=[str(self.packages)])
        }
        wanted = [name for name, one in known.items() if set(REAL) & {_import_name(top) for top in _top_level(one)}]
        seen = set()
        while wanted:
            name = wanted.pop()
            if name in seen or name not in known:
                continue
            seen.add(name)
            tops = _top_level(known[name])
            if not_taken & {_import_name(top) for top in tops}:
                continue
            yield from (self.packages / top for top in tops)
            for line in known[name].requires or ():
                requirement = Requirement(line)
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                    wanted.append(canonicalize_name(requirement.name))


def _top_level(distribution: importlib.metadata.Distribution) -> list[str]:
    """Names of what it has put into site-packages, without its metadata."""
    tops = dict.fromkeys(path.parts[0] for path in distribution.files or ())
    return [name for name in tops if name != ".." and not name.endswith((".dist-info", ".pth", "__pycache__"))]


def _import_name(file: str) -> str:
    return file.partition(".")[0]


def _put(source: Path, target: Path) -> None:
    """Link a file or all files of a folder."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=_link)
    else:
        _link(str(source), str(target))


def _link(source: str, target: str) -> None:
    """Another name for the file; a copy where that lies on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
