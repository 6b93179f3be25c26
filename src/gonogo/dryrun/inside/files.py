"""The files of the world: outside the folders that the dry run itself needs, every absolute path leads into a sandbox folder.

Two sandboxes lie on top of each other: the world's (a pretend /proc, /sys, /etc and /usr, the same for all dry runs of a
child) and the run's own (/tmp, home, working folder, model facts). Paths are led there in Python's own file functions; the few
libraries that open files natively are led there one by one (natives.py).
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .decisions import DECISIONS, engine_stack

_ONE_PATH = [
    "stat",
    "lstat",
    "listdir",
    "scandir",
    "access",
    "mkdir",
    "rmdir",
    "remove",
    "unlink",
    "open",
    "readlink",
    "statvfs",
    "chmod",
    "lchmod",
    "chown",
    "lchown",
    "utime",
    "truncate",
    "chdir",
    "chflags",
    "lchflags",
    "mkfifo",
    "mknod",
    "pathconf",
    "getxattr",
    "setxattr",
    "listxattr",
    "removexattr",
]
_TWO_PATHS = ["rename", "replace", "link", "symlink"]
_ordinary: dict[str, Any] = {}
_ordinary_cwd = os.getcwd


WORK = "/work"
#: What furniture.py furnishes for all runs.
_SHARED = ("/proc", "/sys", "/etc", "/usr/bin")
#: Where the kernel tells of hardware that gonogo's own facts are silent on.
_KERNEL = ("/sys", "/dev")
_DISK_BYTES = 1 << 42
_DEVICES = {"/dev/" + name for name in ["null", "zero", "urandom", "random", "fd", "stdout", "stderr", "stdin"]}


class Files:
    """Where paths lead: ``shared`` is the world's sandbox, ``own`` this run's; ``real`` are folders seen as they are.

    ``hidden`` are files and folders inside those that the world does not have. ``shm_bytes`` is the size of its /dev/shm.
    """

    def __init__(self, shared: str, own: str, real: list[str], hidden: list[str], shm_bytes: int = 1 << 40) -> None:
        self.shared = shared
        self.own = own
        self.real = [folder.rstrip("/") for folder in real]
        self.hidden = hidden
        self.shm_bytes = shm_bytes
        self.asked: dict[str, bool] = {}
        self.watched: tuple[str, ...] = ()
        self.models: tuple[str, ...] = ()
        self.code: set[str] = set()
        self.empty: frozenset[str] = frozenset()
        #: Files of models that are there but without their content, and by whom they were read all the same.
        self.hollow: set[str] = set()
        self.read_hollow: dict[str, list[str]] = {}

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
        if text in self.empty:
            return os.devnull
        if self.is_real(text):
            return path
        text = _tidy(text)
        if text in _DEVICES:
            return text
        if below(text, (f"/proc/{os.getpid()}",)):
            text = "/proc/self" + text.removeprefix(f"/proc/{os.getpid()}")
        led = self.own + text
        if below(text, _SHARED) and not _exists(led):
            led = self.shared + text
        self._note(text, led)
        return led

    def is_real(self, text: str) -> bool:
        """Is this a path of the machine that the dry run sees as it is?"""
        return below(text, (self.own, self.shared)) or (below(text, self.real) and not below(text, self.hidden))

    def shows(self, folder: Any, name: Any) -> bool:
        """Does the world see this entry of a real folder?"""
        if not self.hidden or not isinstance(folder, str) or not isinstance(name, str):
            return True
        return not below(os.path.join(folder, name), self.hidden)

    def _note(self, text: str, led: str) -> None:
        """Remember a path that the launch names and the world does not have, and code of a model that was looked for."""
        if text.rstrip("/") in self.watched and text not in self.asked:
            self.asked[text] = _exists(led)
        if text.endswith(".py") and below(text, self.models):
            self.code.add(text)

    def note_read(self, real: Any) -> None:
        """Remember who opens a file whose content nobody told."""
        text = os.path.join(_ordinary_cwd(), os.fspath(real))
        if text in self.hollow:
            self.read_hollow[self.clean(text)] = engine_stack()

    def clean(self, text: str) -> str:
        """A text without the sandboxes' own names."""
        return text.replace(self.own, "").replace(self.shared, "")


def below(text: str, folders: Iterable[str]) -> bool:
    """Is this path one of the folders, or in one of them?"""
    return any(text.startswith(folder) and text[len(folder) : len(folder) + 1] in ("", "/") for folder in folders)


def _exists(path: str) -> bool:
    try:
        _ordinary.get("stat", os.stat)(path)
    except OSError:
        return False
    return True


def _tidy(text: str) -> str:
    return os.path.normpath(text) if "//" in text or "/." in text or (text.endswith("/") and text != "/") else text


def install(files: Files) -> None:
    """Lead the file functions of ``os``, ``open`` and the loading of code through ``files``."""
    for name in _ONE_PATH:
        if hasattr(os, name):
            _replace(name, _one(name, files))
    for name in _TWO_PATHS:
        _replace(name, _two(name, files))
    for name in ("open", "open_code"):
        _ordinary[f"io.{name}"] = getattr(io, name)
        setattr(io, name, _opener(_ordinary[f"io.{name}"], files))
    builtins.open = io.open
    os.getcwd = lambda: WORK if _ordinary_cwd() == files.own + WORK else files.clean(_ordinary_cwd()) or "/"
    os.getcwdb = lambda: os.fsencode(os.getcwd())


def _replace(name: str, function: Callable[..., Any]) -> None:
    """Put ``function`` in place of one of ``os``, wherever ``os`` speaks of it."""
    ordinary = _ordinary[name] = getattr(os, name)
    for abilities in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        if ordinary in abilities:
            abilities.add(function)
    setattr(os, name, function)


def read_real(path: str) -> bytes:
    """The content of a file of the machine below: only for model facts that the host named."""
    with _ordinary.get("io.open", io.open)(path, "rb") as file:
        content: bytes = file.read()
    return content


def real_size(path: str) -> int:
    """The size of such a file in bytes."""
    return int(_ordinary.get("stat", os.stat)(path).st_size)


def _opener(ordinary: Any, files: Files) -> Callable[..., Any]:
    def open_(file: Any, *args: Any, **kwargs: Any) -> Any:
        real = files.lead(file)
        if files.hollow and not isinstance(real, int):
            files.note_read(real)
        return ordinary(real, *args, **kwargs)

    return open_


def _one(name: str, files: Files) -> Callable[..., Any]:
    ordinary = getattr(os, name)

    def led(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        return ordinary(files.lead(path), *args, **kwargs)

    def status(path: Any, *args: Any, **kwargs: Any) -> Any:
        real = files.lead(path)
        try:
            return ordinary(real, *args, **kwargs)
        except FileNotFoundError:
            # Does the machine have this device? Nobody knows. If it does, it is a folder, as far as one can tell.
            if not (below(str(path), _KERNEL) and DECISIONS.take("path", str(path), False, True)):
                raise
            return ordinary(files.shared)

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

    def listdir(path: Any = ".") -> list[Any]:
        real = files.lead(path)
        return sorted(name for name in ordinary(real) if files.shows(real, name))

    def scandir(path: Any = ".") -> _Entries:
        real = files.lead(path)
        with ordinary(real) as entries:
            shown = [entry for entry in entries if files.shows(real, entry.name)]
        return _Entries(sorted(shown, key=lambda entry: entry.name))

    def statvfs(path: Any) -> os.statvfs_result:
        _ordinary["stat"](files.lead(path))
        size = files.shm_bytes if str(path).startswith("/dev/shm") else _DISK_BYTES
        blocks, names = size // 4096, 1 << 30
        return os.statvfs_result((4096, 4096, blocks, blocks, blocks, names, names, names, 0, 255))

    chosen: dict[str, Callable[..., Any]] = {
        "stat": status,
        "lstat": lstat,
        "readlink": readlink,
        "listdir": listdir,
        "scandir": scandir,
        "statvfs": statvfs,
    }
    function = chosen.get(name, led)
    function.__name__ = name
    return function


class _Entries:
    """What os.scandir gives, in the order of names: a file system's own order is the machine's."""

    def __init__(self, entries: list[os.DirEntry[Any]]) -> None:
        self._entries: Iterator[os.DirEntry[Any]] = iter(entries)

    def __iter__(self) -> Iterator[os.DirEntry[Any]]:
        return self._entries

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *_args: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


def _is_ours(path: Any) -> bool:
    """Is this one of the links by which model facts stand in the sandbox? The world sees plain files there."""
    try:
        return os.path.isabs(os.fspath(_ordinary["readlink"](path)))
    except (OSError, TypeError, ValueError):
        return False


def _two(name: str, files: Files) -> Callable[..., Any]:
    ordinary = getattr(os, name)

    def led(source: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        return ordinary(source if name == "symlink" else files.lead(source), files.lead(target), *args, **kwargs)

    led.__name__ = name
    return led
