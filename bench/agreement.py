"""Compare gonogo's dry runs with recorded answers of a real engine, field by field.

    python bench/agreement.py vllm==0.32.0 tests/data/oracle/vllm-0.32.0.jsonl [--limit N] [--show 5]

Lines of the record are compact (tests/oracle/README.md) or ``{"launch", "answer"}``, as bench/oracle/hunt.py writes
them. Prints the share of launches on which each field is equal, then the disagreements, grouped by kind. Exit code 1
if the outcome, the exception, the site or a resolved value differs anywhere.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gonogo.dryrun import DryRuns, World
from gonogo.hardware.parse import parse_hardware
from gonogo.hardware.types import Host
from gonogo.launches.types import Launch
from gonogo.models.find import Models
from gonogo.releases import Releases

Row = dict[str, Any]
DryRun = Callable[[Row], Row]
"""A launch (``argv``, ``env``) → the fields below."""

FIELDS = ("outcome", "stage", "type", "wrapped_by", "message", "site", "warnings", "resolved")
MUST_AGREE = ("outcome", "type", "message", "site", "resolved")
_DATA = Path(__file__).resolve().parents[1] / "tests" / "data"


@contextmanager
def dry_runs(engine: str, release: str, machine: Row, folder: Path) -> Iterator[DryRun]:
    """Dry runs of ``release`` by gonogo on the machine of the record, with launches started in ``folder``."""
    ready = Releases().get(engine, release)
    torch = machine["packages"]["torch"].partition("+")[0]
    ready = replace(ready, versions={**ready.versions, "torch": torch})
    hardware = replace(parse_hardware("cpu"), host=_host(machine))
    world = World(ready, hardware, _packages(engine, machine), machine["variables"])
    models = Models(folder=folder, hub=False)
    with DryRuns(backends=False) as runs:  # the record ends with the configuration

        def dry_run(launch: Row) -> Row:
            answer = runs.answer(launch_of(engine, launch), world, models)
            return as_record(answer.words, answer.depends)

        yield dry_run


def _host(machine: Row) -> Host:
    soft, hard = machine["open_files_limit"]
    return Host(
        ram_bytes=machine["memory_bytes"],
        available_ram_bytes=machine["memory_bytes"] - (1 << 30),
        cpus=machine["cpus"],
        numa_nodes=machine["numa_nodes"],
        cpu_flags=tuple(machine["cpu_flags"]),
        open_files_soft=soft,
        open_files_hard=hard,
    )


def _packages(engine: str, machine: Row) -> dict[str, bool]:
    """Packages that the real environment lacks. vLLM takes triton without a driver for the device for none."""
    lacking = {name: False for name, there in machine["importable"].items() if not there}
    return {**lacking, **({"triton": False} if engine == "vllm" else {})}


def launch_of(engine: str, launch: Row) -> Launch:
    """The launch that a line of the record tells of."""
    words = tuple(launch["argv"])
    if engine == "vllm":
        return Launch(engine, ("vllm", *words), "command", "vllm", words, env=launch["env"])
    module = "sglang.launch_server"
    return Launch(engine, ("python", "-m", module, *words), "module", module, words, env=launch["env"])


def as_record(words: Row, depends: tuple[str, ...]) -> Row:
    """The child's own words in the terms of a record, which knows no ``unclear``."""
    why = words.get("fault") or words.get("reason")
    unclear = words["outcome"] == "unclear" or bool(depends)
    frames = [one for one in words.get("frames") or () if one["whose"] == "engine"]
    frames = frames or [one for one in words.get("outer_frames") or () if one["whose"] == "engine"]
    return {
        "outcome": f"unclear: {depends or why}" if unclear else words["outcome"],
        "stage": words.get("stage"),
        "type": (words.get("root_type") or "").rpartition(".")[2] or None,
        "wrapped_by": list(words.get("wrapped_by") or ()),
        "message": words.get("root_message"),
        "site": {name: frames[-1][name] for name in ("path", "line", "function")} if frames else None,
        "warnings": list(words.get("warnings", ())),
        "resolved": words.get("resolved", {}),
    }


@dataclass(frozen=True)
class Difference:
    """One field of one launch on which the two disagree."""

    id: str
    argv: tuple[str, ...]
    field: str
    real: Any
    ours: Any

    @property
    def kind(self) -> str:
        """What disagreements of the same cause look alike in: numbers, names in quotes and model paths are left out."""
        if self.field == "resolved":
            return "resolved: " + ", ".join(sorted(n for n in self.real if self.real[n] != self.ours.get(n)))
        if self.field == "warnings":
            missing = sorted({_general(text) for text in self.real if text not in self.ours})
            added = sorted({_general(text) for text in self.ours if text not in self.real})
            if not missing and not added:
                return "warnings: the same in another order or number"
            return f"warnings: missing {missing}, added {added}"
        return f"{self.field}: real {_general(self.real)}, ours {_general(self.ours)}"


def _general(value: Any) -> str:
    text = json.dumps(value, sort_keys=True) if isinstance(value, dict) else str(value)
    return re.sub(r"\d+(\.\d+)?", "#", re.sub(r"models/[\w.-]+", "MODEL", text))[:240]


@dataclass
class Agreement:
    """What a comparison found."""

    launches: int = 0
    equal: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    seconds: float = 0.0

    def share(self, name: str) -> float:
        """The share of launches on which the field is equal."""
        return self.equal[name] / self.launches if self.launches else 1.0

    def by_kind(self) -> dict[str, list[Difference]]:
        """Disagreements grouped, the most frequent kind first."""
        kinds: dict[str, list[Difference]] = defaultdict(list)
        for one in self.differences:
            kinds[one.kind].append(one)
        return dict(sorted(kinds.items(), key=lambda item: -len(item[1])))


def read_record(lines: Iterable[str]) -> Iterator[Row]:
    """Compact rows, whichever way they were written."""
    for line in lines:
        row = json.loads(line)
        if "answer" in row:
            launch, answer = row["launch"], row["answer"]
            kind = answer["root_type"]
            row = {
                **answer,
                **{name: launch[name] for name in ("id", "argv", "env")},
                "type": kind and kind.rpartition(".")[2],
                "message": answer["root_message"],
            }
        yield row


def compare(record: Iterable[Row], dry_run: DryRun) -> Agreement:
    """Ask gonogo about each recorded launch."""
    found = Agreement()
    for real in record:
        started = time.perf_counter()
        ours = dry_run({"argv": real["argv"], "env": real["env"]})
        found.seconds += time.perf_counter() - started
        found.launches += 1
        for name in FIELDS:
            if _same(name, real.get(name), ours.get(name)):
                found.equal[name] += 1
            else:
                argv = tuple(real["argv"])
                found.differences.append(Difference(real["id"], argv, name, real.get(name), ours.get(name)))
    return found


def _same(name: str, real: Any, ours: Any) -> bool:
    """Records have bare function names and a choice of the resolved values; gonogo says qualified ones, and more."""
    if name == "site" and real and ours:
        bare = {**ours, "function": ours["function"].rpartition(".")[2]}
        return bool({**real, "function": real["function"].rpartition(".")[2]} == bare)
    if name == "resolved":
        return all(ours.get(value) == real[value] for value in real)
    return bool(real == ours)


def report(found: Agreement, show: int) -> str:
    """The shares, and ``show`` examples of each kind of disagreement."""
    lines = [f"{found.launches} launches, {found.seconds:.1f} s"]
    lines += [f"  {name:10} {found.share(name):8.2%}  {found.launches - found.equal[name]} differ" for name in FIELDS]
    for kind, ones in found.by_kind().items():
        lines += ["", f"{len(ones)} x {kind}"]
        for one in ones[:show]:
            lines.append(f"    {one.id}  {' '.join(one.argv)}"[:400])
            if one.field in ("type", "message", "site", "outcome", "stage"):
                lines += [f"      real {str(one.real)[:300]}", f"      ours {str(one.ours)[:300]}"]
            if one.field == "resolved":
                names = [name for name in one.real if one.real[name] != one.ours.get(name)]
                lines += [f"      {name}: real {one.real[name]}, ours {one.ours.get(name)}"[:300] for name in names]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="vllm==0.32.0")
    parser.add_argument("record", type=Path)
    parser.add_argument("--machine", type=Path, help="of the record (tests/data/oracle/machine-ENGINE.json)")
    parser.add_argument("--folder", type=Path, default=_DATA, help="where the launches start; holds models/")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--show", type=int, default=3)
    chosen = parser.parse_args()
    engine, _, release = chosen.release.partition("==")
    place = chosen.machine or _DATA / "oracle" / f"machine-{engine}.json"
    machine = json.loads(place.read_text(encoding="utf-8"))
    record = list(read_record(chosen.record.read_text(encoding="utf-8").splitlines()))[: chosen.limit]
    with dry_runs(engine, release, machine, chosen.folder) as dry_run:
        found = compare(record, dry_run)
    print(report(found, chosen.show))
    return int(any(found.equal[name] < found.launches for name in MUST_AGREE))


if __name__ == "__main__":
    sys.exit(main())
