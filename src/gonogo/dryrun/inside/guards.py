"""What keeps a launch from doing anything: kernel walls where the system has them, and audit hooks against accidents.

The walls (Linux): an own user and network namespace, no new privileges, and Landlock, which lets a dry run write only below
its own sandbox. The hooks deny code from files that belong to neither the release, its environment nor Python itself; they
are no wall (``ctypes`` walks past them), so such code is never brought near: it would have to be in the launch's reach first.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000
_PR_SET_NO_NEW_PRIVS, _PR_SET_PDEATHSIG = 38, 1
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
#: Landlock's rights to change files, by the version of its interface that brought them (linux/landlock.h).
_WRITES = (1 << 1) | sum(1 << n for n in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14


class ForeignCode(BaseException):
    """Code was about to run that belongs to the launch, not to the engine."""


class Guard:
    """The audit hook's state: what is allowed, and what was denied."""

    def __init__(self) -> None:
        self.on = False
        self.roots: tuple[str, ...] = ()
        self.foreign: list[str] = []
        self.denied: list[str] = []
        self.pid = 0


GUARD = Guard()
_DENIED_EVENTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.startfile")


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not GUARD.on:
        return
    if event == "exec":
        code = args[0]
        file = getattr(code, "co_filename", "")
        if file.startswith("/") and not file.startswith(GUARD.roots):
            GUARD.foreign.append(file)
            raise ForeignCode(file)
    elif event in _DENIED_EVENTS:
        GUARD.denied.append(f"{event} {args[0]!r}"[:200])
        raise PermissionError(f"{event} is not allowed in a dry run")


def watch(roots: list[str]) -> None:
    """Install the audit hook (it cannot be taken away again); it acts once ``GUARD.on`` is set."""
    GUARD.roots = tuple(root.rstrip("/") + "/" for root in roots)
    sys.addaudithook(_audit)


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
    return walls


def write_only_below(folders: list[str]) -> bool:
    """Let this process and what it starts change files only below ``folders`` (Landlock). True if that now stands."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rights = _WRITES | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    network = 3 if version >= 4 else 0
    rules = struct.pack("=QQ", rights, network) if version >= 4 else struct.pack("=Q", rights)
    buffer = ctypes.create_string_buffer(rules, len(rules))
    ruleset = libc.syscall(_LANDLOCK_CREATE, buffer, ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    for folder in folders:
        handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, handle), 12)
        libc.syscall(_LANDLOCK_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0))
        os.close(handle)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    done = libc.syscall(_LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0
    os.close(ruleset)
    return bool(done)


def limit(seconds: int, memory_bytes: int, file_bytes: int, setrlimit: Any) -> None:
    """Bound what one dry run may use; ``setrlimit`` is the real one."""
    setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform.startswith("linux"):
        setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
