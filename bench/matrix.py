"""Plain launches of ten model shapes on releases of both engines and seven GPUs: every cell that is not GO, told.

    python bench/matrix.py [RELEASE ...] [--gpu NAME ...] [--out FILE]

A cell is one dry run of the plainest launch there is: the engine's command and a model. Prints a line per release and shape
(G: passed, g: passed, but the stage `backends` could not be looked at,
R: refused, C: crashed, ?: unclear; one letter per GPU), then each cell that did not pass with what the engine
said and where. Exit code 1 if a cell is unclear or the engine fell over.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from gonogo.dryrun import DryRuns, World
from gonogo.engines.types import ENGINES
from gonogo.hardware.parse import parse_hardware
from gonogo.launches.types import Launch
from gonogo.models.find import Models
from gonogo.places import cache_folder
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.releases import Releases
from gonogo.releases.surfaces import Surfaces
from matrix_models import SHAPES, write_models

RELEASES = [
    *(f"vllm=={each}" for each in ("0.6.6", "0.8.5", "0.11.0", "0.16.0", "0.20.2", "0.24.0", "0.28.0", "0.33.0")),
    *(f"sglang=={each}" for each in ("0.4.9", "0.5.3", "0.5.9", "0.5.12", "0.5.18", "0.5.23")),
]
GPUS = ["T4", "A100-80GB", "L4", "H100-80GB", "B200", "RTX-5090", "MI300X"]
_LETTERS = {"passed": "G", "refused": "R", "crashed": "C", "unclear": "?"}


def launch_of(engine: str, model: str) -> Launch:
    """The plainest launch: the form that every release of the engine has."""
    if engine == "vllm":
        words = ("vllm", "serve", model)
        return Launch(engine=engine, argv=words, entry="command", target="vllm", args=words[1:])
    args = ("--model-path", model)
    argv = ("python3", "-m", "sglang.launch_server", *args)
    return Launch(engine=engine, argv=argv, entry="module", target="sglang.launch_server", args=args)


def cells(spec: str, gpus: list[str], models: Models) -> dict[tuple[str, str], dict[str, Any]]:
    """(shape, GPU) → what the dry run found."""
    engine, version = Releases().parse(spec)
    assert version is not None
    release = Releases().get(engine, version)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    with DryRuns(surfaces=Surfaces(cache_folder() / "surfaces")) as runs:
        for gpu in gpus:
            world = World(release, parse_hardware(gpu))
            for shape in SHAPES:
                started = time.monotonic()
                outcome = runs.run(launch_of(engine, f"matrix/{shape}"), world, models).outcome
                error = outcome.error
                found[shape, gpu] = {
                    "release": spec,
                    "shape": shape,
                    "gpu": gpu,
                    "outcome": outcome.kind,
                    "stages": outcome.stages,
                    "reason": outcome.reason,
                    "type": error and error.type,
                    "message": error and error.message,
                    "site": f"{error.site.path}:{error.site.line}" if error and error.site else None,
                    "seconds": round(time.monotonic() - started, 2),
                }
    return found


def main() -> int:
    """Run the matrix."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", default=RELEASES)
    parser.add_argument("--gpu", action="append")
    parser.add_argument("--out", type=Path, help="write every cell as a JSON line")
    options = parser.parse_args()
    gpus = options.gpu or GPUS
    told: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        folders = {name: write_models(Path(folder) / name, name) for name in ENGINES}
        for spec in options.releases:
            started = time.monotonic()
            models = Models(models_dir=folders[spec.partition("==")[0]], hub=False)
            try:
                found = cells(spec, gpus, models)
            except (OwnProblem, UsageProblem) as problem:
                print(f"{spec}: {problem}", flush=True)
                told.append({"release": spec, "outcome": "unclear", "reason": str(problem)})
                continue
            told += found.values()
            print(f"{spec} ({time.monotonic() - started:.0f} s): one letter per GPU of {', '.join(gpus)}")
            for shape in SHAPES:
                letters = "".join(_letter(found[shape, gpu]) for gpu in gpus)
                print(f"  {shape:16} {letters}", flush=True)
            _explain(found)
            if options.out:
                options.out.write_text("".join(json.dumps(row) + "\n" for row in told))
    counts = {kind: sum(row["outcome"] == kind for row in told) for kind in _LETTERS}
    print(f"{len(told)} cells: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    return 1 if counts["unclear"] or counts["crashed"] else 0


def _letter(row: dict[str, Any]) -> str:
    letter = _LETTERS[row["outcome"]]
    return letter.lower() if letter == "G" and row["stages"].get("backends") != "passed" else letter


def _explain(found: dict[tuple[str, str], dict[str, Any]]) -> None:
    """What did not pass, once per kind."""
    kinds: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for (shape, gpu), row in found.items():
        if _letter(row) != "G":
            stage = next(iter([name for name, how in row["stages"].items() if how != "passed"]), None)
            text = f"{row['type']}: {row['message']}" if row["message"] else row["reason"]
            kinds[row["outcome"], stage, text, row["site"]].append(f"{shape} on {gpu}")
    for (outcome, stage, text, site), where in kinds.items():
        print(f"    {outcome} ({stage}) at {site}: {' '.join(str(text).split())[:400]}")
        print(f"      {'; '.join(where)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
