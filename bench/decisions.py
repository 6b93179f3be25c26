"""How many decisions on unknown values an engine takes while it is loaded, and how many of them matter.

    python bench/decisions.py [ENGINE==VERSION ...]

A decision matters if its other answer changes the outcome of a launch of the engine's battery (engine.toml).
"""

from __future__ import annotations

import sys

from gonogo.dryrun import DryRuns, World
from gonogo.hardware.parse import parse_hardware
from gonogo.releases import Releases

RELEASES = ("vllm==0.32.0", "vllm==0.33.0", "sglang==0.5.23")


def main() -> None:
    releases = Releases()
    for spec in sys.argv[1:] or RELEASES:
        engine, version = releases.parse(spec)
        release = releases.get(engine, version or releases.newest(engine))
        for gpu in ("H100-80GB:8", "MI300X:8", "cpu"):
            with DryRuns(backends=False) as runs:
                world = World(release, parse_hardware(gpu))
                matter = runs.that_matter_at_import(world)
                print(
                    f"{spec} on {gpu}: {len(runs.decisions_at_import(world))} decisions at import, {len(matter)} matter"
                )
                for row in matter:
                    print(f"    {row['key']}")


if __name__ == "__main__":
    main()
