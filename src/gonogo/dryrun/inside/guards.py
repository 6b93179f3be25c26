"""What keeps a launch from doing anything: kernel walls where the system has them, and audit hooks against accidents.

The walls (Linux): an own user and network namespace, no new privileges, and Landlock, which lets a dry run write only below
its own sandbox, read nothing of its user's, start no program, use no network and signal nobody. The hooks deny code from files
that belong to neither the release, its environment nor Python itself, and writes elsewhere; they are no wall (``ctypes`` walks
past them), so such code is never brought near: it would have to be in the launch's reach first.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import os
import resource
import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .files import below
from .natives import LIBC
from .unknown import SITE

_open = os.open  # the real one, before files.py replaces it
_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000
_PR_SET_NO_NEW_PRIVS, _PR_SET_PDEATHSIG = 38, 1
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
#: Landlock's rights, and the version of its interface that brought the later ones (linux/landlock.h).
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << n for n in range(4))
_WRITES = _WRITE_FILE | sum(1 << n for n in range(4, 13))
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_AND_CONNECT = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
#: Where the system keeps its own libraries and tables, and nothing of its users.
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev")


class ForeignCode(BaseException):
    """Code was about to run that belongs to the launch, not to the engine."""


class Guard:
    """The audit hook's state: what is allowed, and what was denied."""

    def __init__(self) -> None:
        self.on = False
        self.roots: tuple[str, ...] = ()
        self.hidden: tuple[str, ...] = ()
        #: The only folder in which files may be changed; None while the engine is loaded (it may be compiled then).
        self.writable: str | None = None
        self.foreign: list[str] = []
        self.denied: list[str] = []

    def is_ours(self, file: str) -> bool:
        """Does code in this file belong to the release, its environment, Python or gonogo?"""
        return below(file, self.roots) and not below(file, self.hidden)

    def refuse(self, what: str) -> ForeignCode:
        """What to raise in place of running code that is not ours."""
        self.foreign.append(what)
        return ForeignCode(what)


GUARD = Guard()
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.startfile")
_TALKS = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
_CHANGES = (
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.utime",
    "os.setxattr",
    "os.removexattr",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not GUARD.on:
        return
    if event == "exec":
        file = getattr(args[0], "co_filename", "")
        if file and not file.startswith("<") and not GUARD.is_ours(file):
            raise GUARD.refuse(file)
    elif event == "import":
        if args[1] is not None and not GUARD.is_ours(args[1]):
            raise GUARD.refuse(args[1])
    elif event == "ctypes.dlopen":
        name = args[0]
        # A stand-in has no library: looking for it fails by itself, as it would with a broken installation.
        if name and name not in LIBC and not GUARD.is_ours(os.fsdecode(name)) and not below(os.fsdecode(name), (SITE,)):
            raise GUARD.refuse(os.fsdecode(name))
    elif event in _STARTS or event in _TALKS:
        _deny(f"{event} {args[-1 if event in _TALKS else 0]!r}")
    elif GUARD.writable is not None:
        if event == "open":
            if isinstance(args[2], int) and args[2] & _WRITING:
                _only_in_sandbox(event, args[:1])
        elif event in _CHANGES:
            _only_in_sandbox(event, args[1:2] if event == "os.symlink" else args[:2])


def _only_in_sandbox(event: str, paths: Iterable[Any]) -> None:
    """Deny a change outside the sandbox; a relative path starts inside it."""
    assert GUARD.writable is not None
    for path in paths:
        text = os.fsdecode(path) if isinstance(path, (str, bytes)) else ""
        if text.startswith("/") and text != os.devnull and not below(os.path.normpath(text), (GUARD.writable,)):
            _deny(f"{event} {text!r}")


def _deny(what: str) -> None:
    GUARD.denied.append(what[:200])
    raise PermissionError(f"{what[:200]} is not allowed in a dry run")


def watch(roots: list[str], hidden: Iterable[str]) -> None:
    """Install the audit hook (it cannot be taken away again), which acts once ``GUARD.on`` is set, and keep away foreign code.

    ``roots`` are the folders whose code may run, without what lies in ``hidden``.
    """
    GUARD.roots = tuple(root.rstrip("/") for root in roots)
    GUARD.hidden = tuple(hidden)
    sys.addaudithook(_audit)
    loader: Any = importlib.machinery.SourceFileLoader
    loader.get_data = _get_data(loader.get_data)
    sys.path_hooks.insert(0, _nothing_to_import)
    sys.path_importer_cache.clear()


def _get_data(ordinary: Callable[..., bytes]) -> Callable[..., bytes]:
    def get_data(self: Any, path: str) -> bytes:
        """Foreign code is not even looked for: whether it is on this machine must not show."""
        if GUARD.on and not GUARD.is_ours(self.path):
            raise GUARD.refuse(self.path)
        return ordinary(self, path)

    return get_data


class _Nothing:
    """The importer of a folder that holds no code of ours."""

    @staticmethod
    def find_spec(_name: str, _target: Any = None) -> None:
        return None


def _nothing_to_import(folder: str) -> type[_Nothing]:
    """A hook of the import system for folders of sys.path. ImportError: another hook may have it."""
    if GUARD.is_ours(os.path.abspath(folder) if folder else os.getcwd()):
        raise ImportError(folder)
    return _Nothing


def end_with_parent(number: int) -> None:
    """Let the system send this process the signal ``number`` when its parent ends (Linux). A fork asks for itself anew."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def go_alone() -> list[str]:
    """Leave the network and the privileges of the user, where the system allows; says which walls stand."""
    if not sys.platform.startswith("linux"):
        return []
    walls = []
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) == 0:
        walls.append("namespaces")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            try:
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
            except OSError:
                pass
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        walls.append("no-new-privs")
    if _landlock_version(libc) >= 1:
        walls.append("landlock")
    return walls


def _landlock_version(libc: Any) -> int:
    return int(libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def confine(writable: str, readable: Iterable[str]) -> bool:
    """Confine this process and what it starts (Landlock): files are changed only below ``writable``.

    Files are read only there, below the folders and among the files of ``readable``, and in the system's own folders.
    Programs, TCP, signals to others: none. True if that now stands.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = _landlock_version(libc)
    if version < 1:
        return False
    writes = _WRITES | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    rights = _EXECUTE | _READ_FILE | _READ_DIR | writes | (_IOCTL_DEV if version >= 5 else 0)
    rules = struct.pack("=QQQ", rights, _BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = rules[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = libc.syscall(_LANDLOCK_CREATE, ctypes.c_char_p(rules), ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    _allow(libc, ruleset, writable, writes | _READ_FILE | _READ_DIR)
    _allow(libc, ruleset, os.devnull, (writes | _READ_FILE) & _OF_FILES)
    for path in (*readable, *_SYSTEM):
        _allow(libc, ruleset, path, _READ_FILE | _READ_DIR)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    done = libc.syscall(_LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0
    os.close(ruleset)
    return bool(done)


def _allow(libc: Any, ruleset: int, path: str, rights: int) -> None:
    """Add a rule for what stands at ``path`` and below it; nothing where there is nothing."""
    try:
        handle = _open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    for wanted in (rights, rights & _OF_FILES):  # the second where it is a file
        rule = struct.pack("=Qi", wanted, handle)
        if (
            libc.syscall(
                _LANDLOCK_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.c_char_p(rule), ctypes.c_uint32(0)
            )
            == 0
        ):
            break
    os.close(handle)


def limit(seconds: int, memory_bytes: int, file_bytes: int, setrlimit: Any, getrlimit: Any) -> None:
    """Bound what one dry run may use, within what the system allows; the functions are the real ones."""

    def bound(which: int, soft: int, hard: int) -> None:
        _, most = getrlimit(which)
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        setrlimit(which, (soft, hard))

    bound(resource.RLIMIT_CPU, seconds, seconds + 5)
    bound(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
    bound(resource.RLIMIT_CORE, 0, 0)
    if sys.platform.startswith("linux"):
        bound(resource.RLIMIT_AS, memory_bytes, memory_bytes)
