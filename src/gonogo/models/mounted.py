"""``--model-facts PATH=ORG/NAME|DIR``: which model a path in a launch is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from gonogo.models.names import is_path, is_repository, is_sane, normal
from gonogo.problems import UsageProblem

_FORM = "--model-facts takes PATH=ORG/NAME or PATH=FOLDER"


def parse_mounted(words: Iterable[str]) -> dict[str, str]:
    """``PATH=TARGET`` words as a mapping; UsageProblem: no ``=``, an empty side, one path with two targets."""
    found: dict[str, str] = {}
    for word in words:
        path, equals, target = word.partition("=")
        if not equals or not is_sane(path) or not is_sane(target):
            raise UsageProblem(f"{_FORM}, not {_shown(word)}")
        if found.setdefault(path, target) != target:
            raise UsageProblem(f"--model-facts says two things of {_shown(path)}: {found[path]} and {_shown(target)}")
    return found


class Mounts:
    """The mapping made ready to be asked: each target is a repository (text) or an existing folder (Path)."""

    def __init__(self, mounted: Mapping[str, str | Path], folder: Path) -> None:
        """Relative targets are of ``folder``. UsageProblem: a target that is neither a folder nor a repository."""
        self._targets: dict[str, str | Path] = {}
        for path, target in mounted.items():
            if not is_sane(path) or not is_sane(str(target)):
                raise UsageProblem(f"{_FORM}, not {_shown(f'{path}={target}')}")
            place = folder / os.path.expanduser(target)  # noqa: PTH111
            if _is_folder(place):
                self._targets[normal(path)] = place
            elif isinstance(target, str) and is_repository(target) and not is_path(target):
                self._targets[normal(path)] = target
            else:
                raise UsageProblem(
                    f"--model-facts {_shown(path)}={_shown(str(target))}: no such folder; {_FORM.split(' ', 1)[1]}"
                )

    def find(self, word: str) -> tuple[str | Path, str] | None:
        """The target of the longest mounted path that ``word`` is or lies below, and the rest of ``word`` below it."""
        path = normal(word)
        for mount in sorted(self._targets, key=len, reverse=True):
            if path == mount:
                return self._targets[mount], ""
            if path.startswith(mount.rstrip("/") + "/"):
                return self._targets[mount], path[len(mount.rstrip("/")) + 1 :]
        return None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # too long for the system
        return False


def _shown(text: str) -> str:
    plain = text.replace("\0", "\\0")
    return repr(plain) if len(plain) <= 200 else repr(plain[:200]) + "…"
