"""The files of the world: outside the folders that the dry run itself needs, every absolute path leads into a sandbox folder.

Two sandboxes lie on top of each other: the world's (a pretend /proc, /sys, /etc and /usr, the same for all dry runs of a
child) and the run's own (/tmp, home, working folder, model facts). Paths are led there in Python's own file functions; the few
libraries that open files natively are led there one by one (natives.py).
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from typing import Any

_ONE_PATH = "stat lstat listdir scandir access mkdir rmdir remove unlink open readlink statvfs chmod utime truncate".split()
_TWO_PATHS = "rename replace link symlink".split()
_ordinary: dict[str, Any] = {}
_ordinary_cwd = os.getcwd


WORK = "/work"
_SHARED = ("/proc", "/sys", "/etc", "/usr", "/opt", "/lib", "/lib64", "/bin", "/sbin")
_DEVICES = {"/dev/" + name for name in "null zero urandom random fd stdout stderr stdin".split()}


class Files:
    """Where paths lead: ``shared`` is the world's sandbox, ``own`` this run's; ``real`` are folders seen as they are."""

    def __init__(self, shared: str, own: str, real: list[str]) -> None:
        self.shared = shared
        self.own = own
        self.real = [folder.rstrip("/") for folder in real]
        self.asked: dict[str, bool] = {}
        self.watched: tuple[str, ...] = ()

    def lead(self, path: Any) -> Any:
        """The real path behind a path of the world."""
        if isinstance(path, int):
            return path
        text = os.fspath(path) if hasattr(path, "__fspath__") else path
        if isinstance(text, bytes):
            text = os.fsdecode(text)
        if not isinstance(text, str):
            return path
        if not text.startswith("/"):
            self._note(text, text)
            return path
        for folder in (self.own, self.shared, *self.real):
            if text.startswith(folder) and (len(text) == len(folder) or text[len(folder)] == "/"):
                return path
        text = _tidy(text)
        if text in _DEVICES:
            return text
        if text.startswith("/proc/") and text.split("/")[2] == str(os.getpid()):
            text = "/proc/self" + text[len(f"/proc/{os.getpid()}"):]
        if text.startswith(_SHARED):
            return self.shared + text
        led = self.own + text
        self._note(text, led)
        return led

    def _note(self, text: str, led: str) -> None:
        """Remember a path that the launch names and the world does not have."""
        if text.rstrip("/") in self.watched and text not in self.asked:
            self.asked[text] = _exists(led)

    def clean(self, text: str) -> str:
        """A text without the sandboxes' own names."""
        return text.replace(self.own, "").replace(self.shared, "")


def _exists(path: str) -> bool:
    try:
        _ordinary.get("stat", os.stat)(path)
    except OSError:
        return False
    return True


def _tidy(text: str) -> str:
    return os.path.normpath(text) if "//" in text or "/." in text or text.endswith("/") and text != "/" else text


def install(files: Files) -> None:
    """Lead the file functions of ``os`` and ``open`` through ``files``."""
    for name in _ONE_PATH:
        if hasattr(os, name):
            _ordinary[name] = getattr(os, name)
            setattr(os, name, _one(name, files))
    for name in _TWO_PATHS:
        _ordinary[name] = getattr(os, name)
        setattr(os, name, _two(name, files))
    ordinary_open = io.open

    def open_(file: Any, *args: Any, **kwargs: Any) -> Any:
        return ordinary_open(files.lead(file), *args, **kwargs)

    _ordinary["io.open"] = ordinary_open
    builtins.open = open_  # type: ignore[assignment]
    io.open = open_  # type: ignore[assignment]
    os.getcwd = lambda: WORK if _ordinary_cwd() == files.own + WORK else files.clean(_ordinary_cwd())


def read_real(path: str) -> bytes:
    """The content of a file of the machine below: only for model facts that the host named."""
    with _ordinary.get("io.open", io.open)(path, "rb") as file:
        content: bytes = file.read()
    return content


def real_size(path: str) -> int:
    """The size of such a file in bytes."""
    return int(_ordinary.get("stat", os.stat)(path).st_size)


def _one(name: str, files: Files) -> Callable[..., Any]:
    ordinary = _ordinary[name]

    def led(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        return ordinary(files.lead(path), *args, **kwargs)

    def lstat(path: Any, *args: Any, **kwargs: Any) -> Any:
        real = files.lead(path)
        found = ordinary(real, *args, **kwargs)
        if _is_ours(real):
            return _ordinary["stat"](real)
        return found

    def readlink(path: Any, *args: Any, **kwargs: Any) -> Any:
        real = files.lead(path)
        if _is_ours(real):
            raise OSError(22, "Invalid argument", str(path))
        return ordinary(real, *args, **kwargs)

    chosen = {"lstat": lstat, "readlink": readlink}.get(name, led)
    chosen.__name__ = name
    return chosen


def _is_ours(path: Any) -> bool:
    """Is this one of the links by which model facts stand in the sandbox? The world sees plain files there."""
    try:
        return os.path.isabs(os.fspath(_ordinary["readlink"](path)))
    except (OSError, TypeError, ValueError):
        return False


def _two(name: str, files: Files) -> Callable[..., Any]:
    ordinary = _ordinary[name]

    def led(source: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        return ordinary(source if name == "symlink" else files.lead(source), files.lead(target), *args, **kwargs)

    led.__name__ = name
    return led
