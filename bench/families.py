"""How well a model's name tells its family, and whether a launch fares with that stand-in as with the model's own facts.

    python bench/families.py vllm==0.33.0 --models-dir MODELS [--gpu H100:8] [--names-only]

For every ``ORG/NAME/config.json`` below MODELS: is its model type among the families that its name may mean; and does the
plainest launch of it come to the same outcome with the stand-ins by its name alone as with its own facts. A stand-in that passes
where the model itself is refused, or the other way round, is named. Exit code 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from gonogo import Checker
from gonogo.dryrun.families import families_named
from gonogo.releases import Releases
from matrix import launch_of


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release")
    parser.add_argument("--models-dir", type=Path, required=True)
    parser.add_argument("--gpu", default="H100:8")
    parser.add_argument("--names-only", action="store_true", help="no launches")
    chosen = parser.parse_args()
    engine, version = Releases().parse(chosen.release)
    release = Releases().get(engine, version or Releases().newest(engine))
    told: Counter[str] = Counter()
    names = []
    for config in sorted(chosen.models_dir.glob("*/*/config.json")):
        name = "/".join(config.parts[-3:-1])
        kind = json.loads(config.read_text()).get("model_type")
        families = [family.model_type for family in families_named(name, release)]
        told["right" if kind in families else "wrong" if families else "none"] += 1
        names.append(name)
        if families and kind not in families:
            print(f"  {name} is {kind}, by its name {' or '.join(families)}")
    print(
        f"{chosen.release}: of {len(names)} names {told['right']} tell the family, "
        f"{told['wrong']} a wrong one, {told['none']} none"
    )
    if chosen.names_only:
        return 0
    same: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as empty, Checker() as checker:
        for name in names:
            launch = launch_of(engine, name)
            own, by_name = (
                checker.check(launch, release=chosen.release, gpu=chosen.gpu, models_dir=models, hub=False)
                .launches[0]
                .verdict
                for models in (chosen.models_dir, Path(empty))
            )
            same[f"{own} by its facts, {by_name} by its name"] += 1
            if {own, by_name} == {"GO", "NO-GO"}:
                same["contrary"] += 1
                print(f"  {name}: {own} by its facts, {by_name} by its name")
    for row, count in same.most_common():
        print(f"  {row}: {count}")
    return 1 if same["contrary"] else 0


if __name__ == "__main__":
    sys.exit(main())
