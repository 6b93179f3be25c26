"""Modules that dry runs imported, imported once for all later ones; only where no later dry run could tell the difference.

A module may log a warning while it is imported, or fail because others were imported in another order than the engine's own
(those that an import left behind which failed itself). Such modules are left to the dry runs. It is tried in a fork first:
a failed import leaves traces.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable

from .logs import listen_to_log

_ROUNDS = 3


def harmless(names: list[str], package: str, fork: Callable[[], int]) -> list[str]:
    """Those of ``names`` that can all be imported without a word; none if that cannot be found out soon."""
    names = [name for name in dict.fromkeys(names) if name not in sys.modules]
    for _ in range(_ROUNDS):
        bad = _tried(names, package, fork) if names else set()
        if not bad:
            return names
        names = [name for name in names if name not in bad]
    return []


def _tried(names: list[str], package: str, fork: Callable[[], int]) -> set[str]:
    """Modules that failed or spoke when they were imported in this order, and what they brought along; all if it crashed."""
    read, write = os.pipe()
    process = fork()
    if process == 0:
        try:
            told = json.dumps(sorted(_bad(names, listen_to_log(package)))).encode()
            while told:
                told = told[os.write(write, told) :]
        finally:
            os._exit(0)
    os.close(write)
    text = b""
    while piece := os.read(read, 1 << 16):
        text += piece
    os.close(read)
    os.waitpid(process, 0)
    return set(json.loads(text)) if text else set(names)


def _bad(names: list[str], said: list[str]) -> set[str]:
    bad: set[str] = set()
    for name in names:
        before, words = set(sys.modules), len(said)
        try:
            importlib.import_module(name)
        except BaseException:
            bad |= {name} | (set(sys.modules) - before)
        if len(said) > words:
            bad |= {name} | (set(sys.modules) - before)
    return bad
