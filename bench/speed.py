"""How quick gonogo is: one dry run, a whole check, a hundred launches, the first run; and the ratio to the real engine.

    python bench/speed.py [--vllm PYTHON_OF_AN_ENVIRONMENT_WITH_VLLM] [--first]

CPU seconds are those of all processes that the command started. Ratios are of wall-clock times measured in this same run,
on this same machine. ``--first`` fetches everything anew into a temporary cache (needs the package index).
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gonogo.check.checker import Checker

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "tests" / "data" / "models"
LAUNCH = ["vllm", "serve", "models/tiny-llama", "--tensor-parallel-size", "3"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--vllm", type=Path, help="Python of an environment with the real vLLM 0.32.0 (bench/oracle/set_up.py)"
    )
    parser.add_argument("--first", action="store_true", help="measure a first run too")
    chosen = parser.parse_args()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
    os.chdir(MODELS.parent)
    print(f"gonogo --help: {_wall([sys.executable, '-m', 'gonogo', '--help'], 5):.3f} s")
    warm = _warm()
    command = _command()
    if chosen.vllm:
        _against(chosen.vllm, warm, command)
    if chosen.first:
        _first()


def _warm() -> float:
    """Wall-clock seconds of one answer of a warm checker."""
    with Checker(remember=False) as checker:
        options: dict[str, Any] = {"release": "vllm==0.32.0", "gpu": "H100:8", "hub": False}
        checker.check(LAUNCH, **options)  # loads, and learns what else to import
        checker.check(LAUNCH, **options)
        before, started = _cpu_of_children(checker), time.perf_counter()
        for _ in range(20):
            checker.check(LAUNCH, **options)
        wall = (time.perf_counter() - started) / 20
        print(f"one dry run in a warm child: {(_cpu_of_children(checker) - before) / 20:.3f} CPU s, {wall:.3f} s")
        hundred = [["vllm", "serve", "models/tiny-qwen3", "--max-model-len", str(64 + n)] for n in range(100)]
        started = time.perf_counter()
        for words in hundred:
            checker.check(words, **options)
        print(f"100 launches with a warm checker: {time.perf_counter() - started:.1f} s")
    return wall


def _cpu_of_children(checker: Checker) -> float:
    """CPU seconds of the checker's children and of the dry runs that they waited for."""
    seconds = 0.0
    for child in checker._runs._children.values():
        fields = Path(f"/proc/{child._process.pid}/stat").read_text().rpartition(")")[2].split()
        seconds += sum(int(fields[n]) for n in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")
    return seconds


def _command() -> float:
    """Wall-clock seconds of a whole check with everything cached but outcomes."""
    remembering = _check_of("vllm==0.32.0")
    subprocess.run(remembering, check=False, capture_output=True)  # finds out which import decisions matter, once
    walls, cpus = [], []
    for _ in range(3):
        wall, cpu = _timed(remembering, forget=True)
        walls.append(wall)
        cpus.append(cpu)
    print(
        f"a whole check, all cached but the outcome: {statistics.median(cpus):.2f} CPU s, {statistics.median(walls):.2f} s"
    )
    wall, cpu = _timed(remembering, forget=False)
    print(f"a whole check, the outcome remembered: {cpu:.2f} CPU s, {wall:.2f} s")
    return statistics.median(walls)


def _check_of(release: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "gonogo",
        "check",
        "--offline",
        "--release",
        release,
        "--gpu",
        "H100:8",
        "--",
        *LAUNCH,
    ]


def _timed(argv: list[str], forget: bool) -> tuple[float, float]:
    """Wall-clock and CPU seconds of a command; with ``forget``, remembered outcomes are put aside first."""
    if forget:
        from gonogo.places import cache_folder

        subprocess.run(["rm", "-rf", str(cache_folder() / "outcomes")], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(argv, check=False, capture_output=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _wall(argv: list[str], times: int) -> float:
    walls = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run(argv, check=True, capture_output=True)
        walls.append(time.perf_counter() - started)
    return statistics.median(walls)


def _against(python: Path, warm: float, command: float) -> None:
    """The real engine on the same launch, to the same error."""
    argv = [str(python.parent / "vllm"), *LAUNCH[1:], "--host", "127.0.0.1", "--port", "8123"]
    env = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    walls = []
    for _ in range(3):
        started = time.perf_counter()
        done = subprocess.run(argv, check=False, capture_output=True, text=True, env=env, timeout=300)
        walls.append(time.perf_counter() - started)
        if "must be divisible by tensor parallel size" not in done.stdout + done.stderr:
            raise SystemExit("the real engine said something else:\n" + (done.stdout + done.stderr)[-2000:])
    real = statistics.median(walls)
    print(f"real vllm 0.32.0 (CPU build) to the same error: {real:.2f} s")
    print(f"gonogo is {real / command:.1f} times as fast as a command, {real / warm:.0f} times in a warm checker")


def _first() -> None:
    """A first run: everything is fetched."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "GONOGO_CACHE": folder}
        started = time.perf_counter()
        subprocess.run(_check_of("vllm==0.33.0"), check=False, capture_output=True, env=env)
        size = _size(Path(folder), without=("uv",))
        print(f"first run of vllm 0.33.0: {time.perf_counter() - started:.0f} s, {size:.0f} MB on disk")
        subprocess.run(_check_of("vllm==0.32.0"), check=False, capture_output=True, env=env)
        print(f"and with vllm 0.32.0 beside it: {_size(Path(folder), without=('uv',)):.0f} MB")


def _size(folder: Path, without: tuple[str, ...]) -> float:
    """Megabytes on disk, each file once however many names it has."""
    seen: dict[tuple[int, int], int] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and not set(path.relative_to(folder).parts) & set(without):
            status = path.stat()
            seen[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(seen.values()) / 1e6


if __name__ == "__main__":
    main()
