"""What the projects say themselves: every launch in a release's own docs/, examples/ and recipes/ is checked.

    python bench/corpora.py vllm==0.33.0 --models-dir MODELS [--out FILE] [--jobs 2] [--only docs/features]

None of these should be a NO-GO unless its text is wrong. Each launch is checked on 8x H100; one that is refused there
counts as NO-GO only if no other hardware of the list below helps. Rows are written to FILE as they are found, and what stands
there already is not asked again. ``bench/corpora_judged.json`` says what people found of each NO-GO: a ``mistake`` of
the text, or the kind of a false alarm. Exit code 1 if there is a false alarm, or a NO-GO that nobody has judged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gonogo.check.checker import Checker
from gonogo.check.result import LaunchResult
from gonogo.engines.types import Engine, engine_named
from gonogo.launches import Launch
from gonogo.problems import OwnProblem, UsageProblem
from upstream.calls import calls
from upstream.commands import Found, commands
from upstream.passages import SUFFIXES, passages
from upstream.sdist import sdist

Row = dict[str, Any]

FOLDERS = ("docs", "examples", "recipes")
#: Tried in this order. Without a count, as many GPUs as the launch uses, up to four nodes of 8.
HARDWARE = ("H100:8", "H100", "B200", "MI300X", "L4", "RTX-PRO-6000", "cpu")
_JUDGED = Path(__file__).with_name("corpora_judged.json")
_MISTAKE = "mistake"


def launches_of(engine: Engine, root: Path) -> Iterator[Found]:
    """The launches in the texts of an unpacked sdist."""
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            for passage in passages(path, file.read_text(encoding="utf-8", errors="replace")):
                yield from calls(engine, path, passage) if passage.kind == "python" else commands(engine, path, passage)


def key_of(launch: Launch) -> str:
    """The same for launches that are asked about once."""
    told = asdict(launch) | {"source": None, "notes": None}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Asking:
    """Checks launches, each place of hardware in turn, in a few threads with a Checker each."""

    def __init__(self, release: str, models: Path | None, out: Path, jobs: int, remember: bool) -> None:
        self.release, self.models, self.out, self.jobs, self.remember = release, models, out, jobs, remember
        self.rows: dict[tuple[str, str], Row] = {}
        self._lock = threading.Lock()
        self._done: Counter[str] = Counter()
        if out.exists():
            for line in out.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.rows[row["key"], row["hardware"]] = row

    def ask(self, launches: dict[str, Launch]) -> None:
        """Check ``launches`` (by key) until each has passed somewhere, or was refused everywhere."""
        pending = launches
        with ThreadPoolExecutor(self.jobs) as pool:
            checkers = [Checker(remember=self.remember, jobs=1) for _ in range(self.jobs)]
            try:
                for hardware in HARDWARE:
                    todo = [key for key in pending if (key, hardware) not in self.rows]
                    # Variables that an engine reads while it is loaded need a child of their own: like stands by like.
                    todo.sort(key=lambda key: sorted(pending[key].env.items()))
                    share = -(-len(todo) // self.jobs) or 1
                    parts = [todo[at : at + share] for at in range(0, len(todo), share)]
                    tasks = [
                        pool.submit(self._ask_part, checker, hardware, {key: pending[key] for key in part}, len(todo))
                        for checker, part in zip(checkers, parts, strict=False)
                    ]
                    for task in tasks:
                        task.result()
                    pending = {
                        key: launch for key, launch in pending.items() if self.rows[key, hardware]["verdict"] == "NO-GO"
                    }
            finally:
                for checker in checkers:
                    checker.close()

    def _ask_part(self, checker: Checker, hardware: str, launches: dict[str, Launch], total: int) -> None:
        for key, launch in launches.items():
            started = time.perf_counter()
            try:
                result = checker.check(
                    launch, release=self.release, gpu=hardware, models_dir=self.models, hub=False
                ).launches[0]
                row = _told(result)
            except (UsageProblem, OwnProblem) as problem:
                row = {"verdict": "not asked", "reason": f"{type(problem).__name__}: {problem}"}
            row = {"key": key, "hardware": hardware, **row, "seconds": round(time.perf_counter() - started, 2)}
            with self._lock:
                self.rows[key, hardware] = row
                with self.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                self._done[hardware] += 1
                print(f"\r{hardware}: {self._done[hardware]} of {total}   ", end="", file=sys.stderr, flush=True)

    def verdict(self, key: str) -> Row:
        """The row that counts for a launch: where it passed or is open, else its refusal on the first hardware."""
        rows = [self.rows[key, hardware] for hardware in HARDWARE if (key, hardware) in self.rows]
        return next((row for row in rows if row["verdict"] != "NO-GO"), rows[0])


def _told(result: LaunchResult) -> Row:
    worlds = result.worlds
    world = next((one for one in worlds if one.error is not None), worlds[0])
    return {
        "verdict": result.verdict,
        "decided_by": result.decided_by,
        "on": f"{world.nodes}x{world.count} {world.gpu}",
        "model": world.model,
        "models": sorted({str(one.model) for one in worlds}),
        "outcomes": sorted({one.outcome for one in worlds}),
        "reason": next((one.reason for one in worlds if one.outcome == "unclear"), world.reason),
        "error": asdict(world.error) if world.error else None,
        "assumed": list(result.assumed),
    }


def judgements(release: str) -> dict[tuple[str, int, str], str]:
    """(path, line, error id) → what people found: ``mistake``, or the kind of a false alarm."""
    if not _JUDGED.exists():
        return {}
    rows = json.loads(_JUDGED.read_text(encoding="utf-8")).get(release, [])
    return {(row["path"], row["line"], row["error"]): row["judgement"] for row in rows}


def report(release: str, found: Iterable[tuple[Found, Row]]) -> tuple[str, bool]:
    """The summary, and whether there is neither a false alarm nor anything that was not judged."""
    judged = judgements(release)
    verdicts: Counter[str] = Counter()
    elsewhere: Counter[str] = Counter()
    holds: Counter[str] = Counter()
    kinds: dict[str, list[str]] = {}
    for one, row in found:
        verdicts[row["verdict"]] += 1
        if row["verdict"] == "GO" and row["hardware"] != HARDWARE[0]:
            elsewhere[row["on"]] += 1
        if row["verdict"] == "HOLD":
            holds[_why(row)] += 1
        if row["verdict"] in ("NO-GO", "not read", "not asked"):
            error = row.get("error") or {"id": row["verdict"], "type": "", "message": row["reason"], "site": None}
            kind = judged.get((one.path, one.line, error["id"]), "not judged")
            site = error["site"]
            place = f" at {site['path']}:{site['line']}" if site else ""
            kinds.setdefault(kind, []).append(
                f"  {one.path}:{one.line} {error['id']}\n    {' '.join(one.text.split())[:300]}\n"
                f"    {error['type']}: {' '.join(str(error['message']).split())[:300]}{place} [{row.get('model')}]"
            )
    lines = [f"{release}: {sum(verdicts.values())} launches: {_counted(verdicts)}"]
    lines.append(f"GO elsewhere than on 8x H100: {_counted(elsewhere)}")
    lines.append(f"HOLD because of: {_counted(holds)}")
    for kind in sorted(kinds, key=lambda kind: (kind != _MISTAKE, kind)):
        lines += ["", f"{kind}: {len(kinds[kind])}", *kinds[kind]]
    return "\n".join(lines), set(kinds) <= {_MISTAKE}


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common()) or "none"


def _why(row: Row) -> str:
    """What kind of thing holds a verdict open."""
    if row["decided_by"]:
        return f"the {row['decided_by']} decides"
    return str(row["reason"] or "?").partition(":")[0][:80]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="vllm==0.33.0")
    parser.add_argument("--models-dir", type=Path, help="facts of real models: ORG/NAME/config.json")
    parser.add_argument("--out", type=Path, help="where the rows go (default: corpora-RELEASE.jsonl)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--remember", action="store_true", help="take outcomes from gonogo's cache (not for figures)")
    parser.add_argument("--only", default="", help="files whose path begins so")
    chosen = parser.parse_args()
    name, _, version = chosen.release.partition("==")
    engine = engine_named(name)
    out = (chosen.out or Path(f"corpora-{name}-{version}.jsonl")).absolute()
    models = chosen.models_dir and chosen.models_dir.absolute()
    root = sdist(name, version)
    found = [one for one in launches_of(engine, root) if one.path.startswith(chosen.only)]
    os.chdir(root)  # where the documents' relative paths start
    started = time.perf_counter()
    asking = Asking(chosen.release, models, out, chosen.jobs, chosen.remember)
    asking.ask({key_of(one.launch): one.launch for one in found if one.launch is not None})
    seconds = time.perf_counter() - started
    rows = [
        (one, asking.verdict(key_of(one.launch)) if one.launch else {"verdict": "not read", "reason": one.problem})
        for one in found
    ]
    text, clean = report(chosen.release, rows)
    print(f"\n{text}\n\n{seconds:.0f} s")
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main())
