"""The virtual host: RAM, CPUs, limits, name, users. Nothing of the machine below shows through these functions."""

from __future__ import annotations

import collections
import grp
import os
import platform
import pwd
import resource
import signal
import socket
import sys
from types import ModuleType
from typing import Any


def install(host: dict[str, Any]) -> None:
    """Put the host's facts in place of the machine's in the stdlib."""
    cpus = host["cpus"]
    os.cpu_count = lambda: cpus
    if hasattr(os, "process_cpu_count"):
        os.process_cpu_count = lambda: cpus
    os.sched_getaffinity = lambda pid=0: set(range(cpus))  # type: ignore[assignment]
    os.sched_setaffinity = lambda pid, mask: None  # type: ignore[assignment]
    os.getloadavg = lambda: (0.0, 0.0, 0.0)
    os.getuid = os.geteuid = os.getgid = os.getegid = lambda: 0
    names = ("Linux", host["hostname"], "6.8.0", "#1 SMP", host["machine"])
    os.uname = lambda: os.uname_result(names)
    platform._uname_cache = None  # type: ignore[attr-defined]
    platform.machine = lambda: host["machine"]
    platform.system = lambda: "Linux"
    platform.release = lambda: "6.8.0"
    platform.node = lambda: host["hostname"]
    platform.processor = lambda: host["machine"]
    platform.libc_ver = lambda *_a, **_k: ("glibc", "2.39")
    platform.platform = lambda *_a, **_k: f"Linux-6.8.0-{host['machine']}-with-glibc2.39"
    sysconf = os.sysconf
    pages = host["ram_bytes"] // 4096
    known = {
        "SC_PHYS_PAGES": pages,
        "SC_AVPHYS_PAGES": pages,
        "SC_PAGE_SIZE": 4096,
        "SC_PAGESIZE": 4096,
        "SC_NPROCESSORS_ONLN": cpus,
        "SC_NPROCESSORS_CONF": cpus,
        "SC_OPEN_MAX": host["open_files_soft"],
    }
    os.sysconf = lambda name: known[name] if name in known else sysconf(name)
    _limits(host)
    socket.gethostname = lambda: host["hostname"]
    socket.getfqdn = lambda *_a: host["hostname"]
    _users()
    _process()


def _users() -> None:
    """There is only root, as in the images."""
    root = pwd.struct_passwd(("root", "x", 0, 0, "root", "/root", "/bin/bash"))
    group = grp.struct_group(("root", "x", 0, []))

    def of(found: Any, key: Any) -> Any:
        if key not in (0, "root"):
            raise KeyError(f"no such entry: {key!r}")
        return found

    pwd.getpwuid = pwd.getpwnam = lambda key: of(root, key)  # type: ignore[assignment]
    pwd.getpwall = lambda: [root]
    grp.getgrgid = grp.getgrnam = lambda key: of(group, key)  # type: ignore[assignment]
    grp.getgrall = lambda: [group]
    os.getgroups = lambda: [0]
    os.getlogin = lambda: "root"


def _process() -> None:
    """The engine is its container's first process, started with the system's usual settings."""
    # The engine is process 1 of its container. A fork must see another number than the process that loaded the engine:
    # libraries reset their locks by it.
    real, loader = os.getpid, os.getpid()
    os.getpid = lambda: 1 if real() == loader else 2
    os.getppid = lambda: 0
    os.getpgrp = os.setsid = os.setpgrp = lambda: 1  # type: ignore[assignment]
    os.getpgid = os.getsid = lambda pid: 1
    os.umask(0o022)
    sys.executable = "/usr/bin/python3"
    for number in (
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGALRM,
        signal.SIGCHLD,
        signal.SIGTSTP,
    ):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _limits(host: dict[str, Any]) -> None:
    """resource.getrlimit and setrlimit on the host's own limits; the real ones stay as the guards set them."""
    limits = {resource.RLIMIT_NOFILE: (host["open_files_soft"], host["open_files_hard"])}
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

    def getrlimit(which: int) -> tuple[int, int]:
        return limits.get(which, unlimited)

    def setrlimit(which: int, new: tuple[int, int]) -> None:
        soft, hard = new
        _, most = limits.get(which, unlimited)
        if most != resource.RLIM_INFINITY and (hard > most or soft > hard) and not host.get("may_raise_limits"):
            raise ValueError("current limit exceeds maximum limit")
        limits[which] = (soft, hard)

    resource.getrlimit = getrlimit
    resource.setrlimit = setrlimit  # type: ignore[assignment]
    if hasattr(resource, "prlimit"):

        def prlimit(_pid: int, which: int, new: Any = None) -> tuple[int, int]:
            before = getrlimit(which)
            if new:
                setrlimit(which, new)
            return before

        resource.prlimit = prlimit


def after_psutil(host: dict[str, Any]) -> Any:
    """What to put over psutil once it is imported."""
    memory = collections.namedtuple(
        "svmem", "total available percent used free active inactive buffers cached shared slab"
    )
    swap = collections.namedtuple("sswap", "total used free percent sin sout")
    address = collections.namedtuple("snicaddr", "family address netmask broadcast ptp")
    disk = collections.namedtuple("sdiskusage", "total used free percent")
    total, available = host["ram_bytes"], host["available_ram_bytes"]

    def then(m: ModuleType) -> None:
        p: Any = m
        p.virtual_memory = lambda: memory(
            total, available, 100 * (total - available) / total, total - available, available, 0, 0, 0, 0, 0, 0
        )
        p.swap_memory = lambda: swap(0, 0, 0, 0.0, 0, 0)
        p.cpu_count = lambda logical=True: host["cpus"]
        p.cpu_percent = lambda *_a, **_k: 0.0
        p.getloadavg = lambda: (0.0, 0.0, 0.0)
        p.boot_time = lambda: 1.7e9
        p.net_connections = lambda *_a, **_k: []
        p.process_iter = lambda *_a, **_k: iter(())
        p.pids = lambda: [1]
        p.pid_exists = lambda pid: pid == os.getpid()
        p.users = list
        p.disk_partitions = lambda all=False: []
        p.cpu_freq = lambda percpu=False: [] if percpu else None
        p.net_if_addrs = lambda: {
            "lo": [address(socket.AF_INET, "127.0.0.1", "255.0.0.0", None, None)],
            "eth0": [address(socket.AF_INET, host["ip"], "255.255.255.0", None, None)],
        }
        p.net_if_stats = dict
        p.Process = type(
            "Process", (_Process,), {"_cpus": host["cpus"], "_gone": p.NoSuchProcess, "__module__": "psutil"}
        )
        p.disk_usage = lambda path: disk(1 << 42, 0, 1 << 42, 0.0)

    return then


_MEMORY = collections.namedtuple("pmem", "rss vms shared text lib data dirty")


class _Process:
    """psutil.Process of the only process that the world has."""

    _cpus = 1
    _gone: Any = LookupError

    def __init__(self, pid: int | None = None) -> None:
        self.pid = os.getpid() if pid is None else pid
        if self.pid != os.getpid():
            raise self._gone(pid)
        self._affinity = list(range(self._cpus))

    def cpu_affinity(self, cpus: list[int] | None = None) -> list[int] | None:
        if cpus is None:
            return list(self._affinity)
        self._affinity = list(cpus) or list(range(self._cpus))
        return None

    def memory_info(self) -> Any:
        return _MEMORY(1 << 30, 1 << 32, 0, 0, 0, 0, 0)

    def children(self, recursive: bool = False) -> list[Any]:
        return []

    def name(self) -> str:
        return "python3"

    def cmdline(self) -> list[str]:
        return list(sys.argv)

    def parent(self) -> None:
        return None

    def is_running(self) -> bool:
        return True

    def status(self) -> str:
        return "running"

    def create_time(self) -> float:
        return 1.7e9

    def num_threads(self) -> int:
        return 1

    def kill(self, *_args: Any) -> None:
        return None

    terminate = suspend = resume = send_signal = kill


def set_environment(variables: dict[str, str]) -> None:
    """Make ``variables`` the whole environment."""
    os.environ.clear()
    os.environ.update(variables)
    if "TZ" not in variables:
        os.putenv("TZ", "UTC0")  # for native code, which would ask the machine; the images keep UTC


class ReadNames(os._Environ):  # type: ignore[type-arg]
    """os.environ that remembers which names were read, so that a launch that sets one of them gets a child of its own."""

    names: set[str] = set()  # noqa: RUF012  one process, one environment
    on = False

    def __getitem__(self, key: Any) -> Any:
        if ReadNames.on:
            ReadNames.names.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: Any) -> bool:
        if ReadNames.on:
            ReadNames.names.add(key)
        return super().__contains__(key)


def watch_environment() -> None:
    """Begin to remember the names of variables that are read."""
    os.environ.__class__ = ReadNames
    ReadNames.on = True


def locale_and_encoding() -> None:
    """UTF-8 everywhere, as in the images."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
