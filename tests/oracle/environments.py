"""Where the environments of real engines are: ``.oracle/ENGINE``, as ``make oracle`` makes them, or below GONOGO_ORACLE."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from real_environment import RealEnvironment

_ROOT = Path(__file__).resolve().parents[2]


def real_environment(engine: str) -> RealEnvironment:
    """The environment of the real ``engine``. Skips the test where there is none that this Python can load torch from."""
    folder = Path(os.environ.get("GONOGO_ORACLE", _ROOT / ".oracle")) / engine
    try:
        environment = RealEnvironment.at(folder)
    except FileNotFoundError:
        pytest.skip(f"no real engine in {folder}: python bench/oracle/set_up.py {engine} {folder}")
    code = "import sys; print(*sys.version_info[:2])"
    told = subprocess.run([environment.python, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
    if told.split() != [str(part) for part in sys.version_info[:2]]:
        pytest.skip(f"{folder} has Python {told.strip()}, and its torch is loaded into this one's children")
    return environment
