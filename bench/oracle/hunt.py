#!/usr/bin/env python
"""Draw launches and ask a real engine about them, round after round, until enough raise sites were reached.

    python hunt.py vllm|sglang --environment FOLDER --models-dir FOLDER --out fresh.jsonl --launches 2000 --sites 120

FOLDER of the environment is one that set_up.py made. Each line of the output is ``{"launch", "answer"}``; lines that
are there already are learnt from, so a hunt can be taken up again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from draw import Drawer, Launch
from guards import guards

_HERE = Path(__file__).parent
_QUIET = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}


def ask(engine: str, python: Path, folder: Path, launches: list[Launch], jobs: int) -> Iterator[dict[str, Any]]:
    """Answers of the real engine, started in ``folder``."""
    env = {**os.environ, **_QUIET, "PYTHONWARNINGS": "ignore"}
    for late, some in (
        (False, [one for one in launches if not one["env"]]),
        (True, [one for one in launches if one["env"]]),
    ):
        if not some:
            continue
        command = [
            "nice",
            "-n",
            "10",
            str(python),
            str(_HERE / f"ask_{engine}.py"),
            "--jobs",
            str(jobs),
            "--timeout",
            "90",
        ]
        done = subprocess.run(
            [*command, "--fresh"] if late else command,  # a variable may be read while the engine is imported
            input="".join(json.dumps(one) + "\n" for one in some),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=env,
            text=True,
            check=True,
        )
        yield from (json.loads(line) for line in done.stdout.splitlines())


def _output(python: Path, *command: str) -> str:
    done = subprocess.run([python, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=["vllm", "sglang"])
    parser.add_argument("--environment", type=Path, required=True)
    parser.add_argument(
        "--models-dir", type=Path, default=_HERE.parents[1] / "tests" / "data", help="holds models/NAME"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--launches", type=int, default=2000)
    parser.add_argument("--sites", type=int, default=120)
    parser.add_argument("--most", type=int, default=20000, help="stop after so many launches, whatever was reached")
    parser.add_argument("--round", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--with-env", action="store_true", help="draw environment variables too: seconds for each launch"
    )
    chosen = parser.parse_args()
    python = chosen.environment.resolve() / "bin" / "python"
    flags = json.loads(_output(python, "-W", "ignore", str(_HERE / "read_flags.py"), chosen.engine))["flags"]
    packages = Path(_output(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    models = sorted(f"models/{place.name}" for place in (chosen.models_dir / "models").glob("tiny-*"))
    drawer = Drawer(chosen.engine, flags, guards(chosen.engine, packages), models)
    count = 0
    if chosen.out.exists():
        for line in chosen.out.read_text().splitlines():
            row = json.loads(line)
            drawer.learn(row["launch"], row["answer"])
            count += 1
    while (count < chosen.launches or len(drawer.reached) < chosen.sites) and count < chosen.most:
        started = time.monotonic()
        drawn = []
        for number in range(count, count + chosen.round):
            name = f"{chosen.engine}-{chosen.seed}-{number}"
            launch = drawer.draw(random.Random(name), f"hunt-{name}")
            drawn.append(launch if chosen.with_env else {**launch, "env": {}})
        by_id = {launch["id"]: launch for launch in drawn}
        with chosen.out.open("a") as out:
            for answer in ask(chosen.engine, python, chosen.models_dir, drawn, chosen.jobs):
                launch = by_id[answer["id"]]
                drawer.learn(launch, answer)
                out.write(json.dumps({"launch": launch, "answer": answer}) + "\n")
        count += len(drawn)
        print(f"{count} launches, {len(drawer.reached)} sites, {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
