"""Time and chance of the world: the clock starts at one moment and moves by itself; what is drawn by lot is always the same."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import os
import queue
import random
import sched
import selectors
import tempfile
import threading
import time
import uuid
from types import ModuleType
from typing import Any

#: When every dry run begins: 2026-01-01 00:00:00 UTC, in nanoseconds.
START = 1_767_225_600 * 10**9
#: The world's machine has been up for a day by then.
_UP = 86_400 * 10**9
#: What passes between two looks at the clock, so that code which waits by looking comes to an end.
_TICK = 10**6
_SEED = 20260101
#: These wait for real things and have to know the real time: they take their functions of ``time`` while they are imported.
REAL_WAITERS: tuple[ModuleType, ...] = (concurrent.futures, queue, sched, selectors, threading)


class _Clock:
    """Nanoseconds since the dry run began."""

    def __init__(self) -> None:
        self.passed = 0

    def look(self) -> int:
        self.passed += _TICK
        return self.passed

    def wait(self, seconds: float) -> None:
        """Waiting changes nothing in a dry run, so it takes no time of ours."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.passed += int(seconds * 10**9)


CLOCK = _Clock()
_LOT = random.Random(_SEED)
_numbers = itertools.count(_SEED)
_seed_of_random = random.Random.seed


def install() -> None:
    """Put the world's clock and its source of randomness in place of the machine's."""
    _clock()
    _randomness()
    restart()


def restart() -> None:
    """Begin anew, as every dry run does: what earlier ones used up must not show."""
    global _numbers
    CLOCK.passed = 0
    _LOT.seed(_SEED)
    _numbers = itertools.count(_SEED)
    random.seed(_SEED)
    tempfile._name_sequence = None  # type: ignore[attr-defined]


def _clock() -> None:
    """The functions of ``time``; ``process_time`` stays real, by it a dry run is measured."""
    gmtime, strftime, asctime = time.gmtime, time.strftime, time.asctime
    real_monotonic = time.monotonic
    asyncio.BaseEventLoop.time = lambda _self: real_monotonic()  # type: ignore[method-assign]

    def now() -> float:
        return (START + CLOCK.look()) / 1e9

    time.time, time.time_ns = now, lambda: START + CLOCK.look()
    for name in ("monotonic", "perf_counter"):
        setattr(time, name, lambda: (_UP + CLOCK.look()) / 1e9)
        setattr(time, name + "_ns", lambda: _UP + CLOCK.look())
    time.clock_gettime = lambda which: now() if which == time.CLOCK_REALTIME else time.monotonic()
    time.clock_gettime_ns = lambda which: time.time_ns() if which == time.CLOCK_REALTIME else time.monotonic_ns()
    time.sleep = CLOCK.wait
    time.gmtime = time.localtime = lambda seconds=None: gmtime(now() if seconds is None else seconds)  # type: ignore[assignment]
    time.ctime = lambda seconds=None: asctime(time.gmtime(seconds))  # type: ignore[assignment]
    time.asctime = lambda moment=None: asctime(time.gmtime() if moment is None else moment)  # type: ignore[assignment]
    time.strftime = lambda form, moment=None: strftime(form, time.gmtime() if moment is None else moment)  # type: ignore[assignment]
    time.tzset = lambda: None
    time.timezone, time.altzone, time.daylight, time.tzname = 0, 0, 0, ("UTC", "UTC")  # type: ignore[misc]


def _randomness() -> None:
    """Everything that would ask the system for entropy."""
    os.urandom = lambda size, /: _LOT.randbytes(size)
    if hasattr(os, "getrandom"):
        os.getrandom = lambda size, flags=0: _LOT.randbytes(size)
    random._urandom = os.urandom  # type: ignore[attr-defined]
    random.Random.seed = _seed  # type: ignore[method-assign]
    random.seed = random._inst.seed  # type: ignore[attr-defined]
    uuid.getnode = lambda: 0x02_42_0A_00_00_02
    uuid._generate_time_safe = uuid._UuidCreate = None  # type: ignore[attr-defined]
    uuid._last_timestamp = None  # type: ignore[attr-defined]


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    _seed_of_random(self, next(_numbers) if a is None else a, version)
