"""Dry runs of recorded launches, as one JSON document: test_host.py starts this on machines that differ.

    python host_probe.py ENGINE RELEASE COUNT [CPUS RAM_BYTES]

With CPUS and RAM_BYTES the child finds another machine below it: what this one answers is replaced before any code of
gonogo's takes hold of it, as if the system itself answered so.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import gonogo.dryrun.process as process
from gonogo.dryrun import DryRuns, World
from gonogo.dryrun.importflips import ImportFlips
from gonogo.hardware.parse import parse_hardware
from gonogo.models.find import Models
from gonogo.releases import Releases

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from agreement import launch_of

DATA = Path(__file__).parents[1] / "data"
OTHER_MACHINE = """
import os, platform, resource, runpy, socket, sys, time

cpus, pages = {cpus}, {ram} // os.sysconf("SC_PAGE_SIZE")
sysconf = os.sysconf
answers = {{"SC_PHYS_PAGES": pages, "SC_AVPHYS_PAGES": pages // 2, "SC_NPROCESSORS_ONLN": cpus,
           "SC_NPROCESSORS_CONF": cpus}}
os.sysconf = lambda name: answers[name] if name in answers else sysconf(name)
os.cpu_count = lambda: cpus
os.sched_getaffinity = lambda pid: set(range(cpus))
os.uname = lambda: os.uname_result(("Linux", "elsewhere", "4.18.0", "#9 SMP", "x86_64"))
os.getloadavg = lambda: (99.0, 99.0, 99.0)
platform.node = lambda: "elsewhere"
platform.release = lambda: "4.18.0"
socket.gethostname = lambda: "elsewhere"
sys.argv[0] = {boot!r}
del __loader__  # a stack that an engine prints would have it read this file, which is not the world's
runpy.run_path({boot!r}, run_name="__main__")
"""


def main() -> None:
    engine, version, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 4:
            boot = Path(folder, "boot.py")
            text = OTHER_MACHINE.format(cpus=int(sys.argv[4]), ram=int(sys.argv[5]), boot=str(process._BOOT))
            boot.write_text(text, encoding="utf-8")
            process._BOOT = boot
        json.dump(answers(engine, version, count), sys.stdout, indent=1, sort_keys=True)


def answers(engine: str, version: str, count: int) -> list[Any]:
    """What the child says, all of it, of every so-many-th launch of the record, on a CPU and on two GPUs."""
    lines = (DATA / "oracle" / f"{engine}-{version}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[:: len(lines) // count]]
    models = Models(folder=DATA, hub=False)
    release = Releases().get(engine, version)
    found = []
    # Which import-time decisions matter is found out by loading the engine again, several times: not the question here.
    ImportFlips.that_matter = lambda *_args: []  # type: ignore[method-assign]
    with DryRuns(backends=False) as runs:
        for gpu in ("cpu", "H100-80GB:2"):
            world = World(release, parse_hardware(gpu))
            for row in rows:
                answer = runs.answer(launch_of(engine, row), world, models)
                found.append([gpu, row["argv"], _told(answer.words), answer.depends, answer.missing])
    return found


def _told(words: dict[str, Any]) -> dict[str, Any]:
    """What was measured is left out, and how the child was started."""
    frames = {
        name: [one for one in words.get(name, ()) if one["whose"] != "other"] for name in ("frames", "outer_frames")
    }
    return {name: value for name, value in {**words, **frames}.items() if name != "cpu_seconds"}


if __name__ == "__main__":
    main()
