"""Which modules exist in the world: real ones from the light environment, fakes, and those that are absent."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from .decisions import DECISIONS, asking_frame, survives_absence
from .unknown import SITE, FakeModule

Describe = Callable[[ModuleType], None]


class FakeFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds stand-ins for packages that are pretended to be installed, and hides those that are pretended not to be."""

    def __init__(
        self,
        faked: dict[str, str],
        absent: Iterable[str],
        described: dict[str, Describe],
        known: Iterable[str] = (),
        texts: dict[str, str] | None = None,
    ) -> None:
        """``faked``: name → version; ``described`` fills modules; ``known`` are names of modules that surely exist.

        ``texts``: name → source, of modules of stand-ins that are run as they are.
        """
        self.faked = faked
        self.absent = set(absent)
        self.described = described
        self.known = frozenset(known)
        self.texts = texts or {}
        self.missing: dict[str, str] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if _under(name, self.absent):
            return None
        top = _longest(name, self.faked)
        if top is None and isinstance(sys.modules.get(name.rpartition(".")[0]), FakeModule):
            top = name.rpartition(".")[0]  # a stand-in that an engine has put in another's place
        if top is None:
            return None
        if name in self.texts and name not in self.described:
            return importlib.machinery.ModuleSpec(
                name, _Text(self.texts[name]), origin=f"{SITE}/{name.replace('.', '/')}.py"
            )
        if name != top and name not in self.described:
            if self._has_no(name):
                return None
            if (
                name not in self.known
                and survives_absence(asking_frame())
                and not DECISIONS.take("import", name, True, False)
            ):
                self.absent.add(name)
                return None
        spec = importlib.machinery.ModuleSpec(
            name, self, origin=f"{SITE}/{name.replace('.', '/')}/__init__.py", is_package=True
        )
        spec.submodule_search_locations = [f"{SITE}/{name.replace('.', '/')}"]
        spec.has_location = True
        return spec

    def _has_no(self, name: str) -> bool:
        """Does the parent fake say that it has no such name?"""
        parent, _, last = name.rpartition(".")
        return last in getattr(sys.modules.get(parent), "__dict__", {}).get("_gonogo_missing", ())

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return FakeModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if self.faked.get(name):
            module.__dict__["__version__"] = self.faked[name]
        describe = self.described.get(name)
        if describe is not None:
            describe(module)


class _Text(importlib.abc.Loader):
    """Runs a text as the module that it is of."""

    def __init__(self, text: str) -> None:
        self._text = text

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._text, f"<{module.__name__}>", "exec"), module.__dict__)


class Hiding:
    """A finder of real modules that does not see those which are pretended to be absent."""

    def __init__(self, finder: Any, absent: set[str]) -> None:
        self._finder, self._absent = finder, absent

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if _under(name, self._absent):
            return None
        found: importlib.machinery.ModuleSpec | None = self._finder.find_spec(name, path, target)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


class LastFinder(importlib.abc.MetaPathFinder):
    """Stands last: notes what was looked for and is not there."""

    def __init__(self) -> None:
        self.missing: dict[str, str] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name not in self.missing:
            frame = asking_frame()
            self.missing[name] = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"


class AfterImport(importlib.abc.MetaPathFinder):
    """Runs a function on a real module right after it was imported."""

    def __init__(self, then: dict[str, Describe]) -> None:
        self.then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        then = self.then.get(name)
        if then is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self._afterwards(spec, then)
                return spec
        return None

    def _afterwards(self, spec: importlib.machinery.ModuleSpec, then: Describe) -> None:
        """Specs are also asked for without an import, so the function is kept until the module was really run."""
        loader: Any = spec.loader
        ordinary = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            ordinary(module)
            if self.then.pop(spec.name, None) is not None:
                then(module)

        loader.exec_module = exec_module


def _under(name: str, tops: set[str]) -> bool:
    while name:
        if name in tops:
            return True
        name = name.rpartition(".")[0]
    return False


def _longest(name: str, tops: dict[str, str]) -> str | None:
    while name:
        if name in tops:
            return name
        name = name.rpartition(".")[0]
    return None
