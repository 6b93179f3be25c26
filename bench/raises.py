"""What a release's own tests say must be refused: the configurations in their ``pytest.raises`` blocks.

    python bench/raises.py vllm==0.33.0 --models-dir MODELS [--out FILE] [--show]

The blocks are read, not run (bench/upstream/blocks.py): names are filled in, parameters and fixtures of the same file written
out. What can be read off is evaluated in a dry run, in place of the launch: an engine's arguments and its configuration's
classes on pretend 8x H100. It agrees where the exception has the type that the test names and its text matches the test's
pattern, both as pytest sees it and in gonogo's own normal form. What can be read off as a launch is run as a launch too, and
must end the same. Prints how many of how many blocks, and each difference.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gonogo.check.models_assumed import assumptions
from gonogo.dryrun import DryRuns, World
from gonogo.dryrun.answer import Answer, outcome_of
from gonogo.dryrun.outcome import Outcome
from gonogo.engines.types import engine_named
from gonogo.hardware.parse import parse_hardware
from gonogo.launches import Launch
from gonogo.launches.calls import read_expression
from gonogo.models.find import Models
from gonogo.places import cache_folder
from gonogo.problems import UsageProblem
from gonogo.releases import Releases
from upstream.blocks import Case, cases, count
from upstream.evaluating import AS_EXPECTED, NOT_IMPORTED
from upstream.sdist import sdist

Row = dict[str, Any]
_EVALUATING = Path(__file__).with_name("upstream") / "evaluating.py"
_ENDS = frozenset({"create_engine_config"})


@dataclass(frozen=True)
class TestWorld(World):
    """A world whose child evaluates expressions besides launches; ``adapter`` is the file that says how."""

    adapter: str = ""

    def description(self) -> Row:
        """What the child is told."""
        return {**super().description(), "adapter": self.adapter}


def adapter_of(engine: str) -> Path:
    """The engine's own inside.py with the evaluation of expressions behind it, as one file."""
    place = cache_folder() / "benches" / f"{engine}-inside.py"
    place.parent.mkdir(parents=True, exist_ok=True)
    behind = _EVALUATING.read_text(encoding="utf-8").replace("from __future__ import annotations\n", "")
    place.write_text(engine_named(engine).inside.read_text(encoding="utf-8") + "\n\n" + behind, encoding="utf-8")
    return place


def cases_of(package: str, root: Path) -> Iterator[Case]:
    """The cases of all tests of an unpacked sdist."""
    for file in sorted((root / "tests").rglob("*.py")):
        yield from cases(package, file.relative_to(root).as_posix(), file.read_text(encoding="utf-8", errors="replace"))


def hardware_of(case: Case) -> str:
    """Where a test is meant to run, by its path."""
    return "MI300X:8" if "rocm" in case.path or "amd" in case.path else "H100:8"


class Asking:
    """Dry runs of cases in one release."""

    def __init__(self, engine: str, version: str, models: Path | None, runs: DryRuns) -> None:
        self.engine, self.runs = engine, runs
        release = Releases().get(engine, version)
        adapter = str(adapter_of(engine))
        self.worlds = {
            name: TestWorld(release, parse_hardware(name), adapter=adapter) for name in ("H100:8", "MI300X:8")
        }
        self.models = Models(models, hub=False)

    def row(self, case: Case) -> Row:
        """How a case ended: ``agrees``, and by what it differs where it does not."""
        launch = self._launch(case)
        world = self.worlds[hardware_of(case)]
        answers = self._answers(launch, world)
        outcome = outcome_of(answers[0], world)
        text = str(answers[0].words.get("traceback") or "")
        agrees = all(self._as_expected(case, one) for one in answers)
        row = {
            "agrees": agrees,
            "outcome": outcome.kind,
            "reason": outcome.reason,
            "error": asdict(outcome.error) if outcome.error else None,
            "normal_form": agrees and _matches(case, outcome),
            "models": len(answers),
            "last": text.strip().splitlines()[-1:] if outcome.error is None else [],
        }
        if NOT_IMPORTED in text:
            row["outcome"] = "not imported"
        same = self._as_launch(case, world, outcome)
        return {**row, "as_launch": same}

    def _launch(self, case: Case) -> Launch:
        if case.argv:
            command, *words = case.argv
            return Launch(self.engine, case.argv, "command", command, tuple(words), env=case.env)
        asked = {"steps": case.steps, "imports": case.imports, "expected": case.expected, "match": case.match}
        arguments = json.loads(json.dumps(asked))
        return Launch(self.engine, case.steps, "call", "expressions", arguments=arguments, env=case.env)

    def _answers(self, launch: Launch, world: World) -> list[Answer]:
        """With the models' own facts, or in every shape that missing ones could have."""
        first = self.runs.answer(launch, world, self.models)
        if not first.missing:
            return [first]
        return [self.runs.answer(launch, world, models) for _, models in assumptions(first.missing, self.models)] or [
            first
        ]

    def _as_expected(self, case: Case, answer: Answer) -> bool:
        words = answer.words
        if words["outcome"] not in ("refused", "crashed") or words.get("fault") or answer.depends:
            return False
        if case.argv:  # its parser ends the program; the tests' raises, or does too
            return words.get("type") == "ArgumentError" or case.expected in (words["root_type"], *words["wrapped_by"])
        if AS_EXPECTED in str(words.get("traceback")):
            return True
        return case.expected.endswith("ArgumentError") and words.get("type") == "ArgumentError"

    def _as_launch(self, case: Case, world: World, outcome: Outcome) -> bool | None:
        """Whether the block's engine arguments, read as a launch of Python, end the same; None where they are none."""
        if len(case.steps) != 1 or case.argv:
            return None
        node = ast.parse(case.steps[0], mode="eval").body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ENDS:
            node = node.func.value
        try:
            launch = read_expression(ast.unparse(node))
        except UsageProblem:
            return None
        if launch.unread or launch.engine != self.engine:
            return None
        answers = self._answers(replace(launch, env=case.env), world)
        again = outcome_of(answers[0], world)
        return (again.kind, again.error) == (outcome.kind, outcome.error)


def _matches(case: Case, outcome: Outcome) -> bool:
    """Whether the normal form's own text matches, as far as the pattern is written out; pydantic's frame counts as text."""
    if outcome.error is None:
        return False
    try:
        pattern = ast.literal_eval(case.match) if case.match else ""
    except ValueError:
        return True
    return bool(
        re.search(pattern, outcome.error.message) or re.search(pattern, f"Value error, {outcome.error.message}")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="vllm==0.33.0")
    parser.add_argument("--models-dir", type=Path, help="facts of real models: ORG/NAME/config.json")
    parser.add_argument("--out", type=Path, help="where the rows go too, as JSON lines")
    parser.add_argument("--show", action="store_true", help="show what cannot be read off as well")
    chosen = parser.parse_args()
    name, _, version = chosen.release.partition("==")
    root = sdist(name, version)
    blocks = sum(count(file.read_text(encoding="utf-8", errors="replace")) for file in (root / "tests").rglob("*.py"))
    found = list(cases_of(engine_named(name).package, root))
    read = [case for case in found if case.unread is None]
    unread = Counter(str(case.unread) for case in found if case.unread is not None)
    started = time.perf_counter()
    rows: list[tuple[Case, Row]] = []
    with DryRuns(backends=False) as runs:
        asking = Asking(name, version, chosen.models_dir, runs)
        for case in sorted(read, key=lambda case: (hardware_of(case), sorted(case.env.items()))):
            rows.append((case, asking.row(case)))
            print(f"\r{len(rows)} of {len(read)}   ", end="", file=sys.stderr, flush=True)
    if chosen.out:
        chosen.out.write_text(
            "".join(json.dumps({**asdict(case), **row}) + "\n" for case, row in rows), encoding="utf-8"
        )
    return _report(chosen.release, blocks, found, rows, unread, chosen.show, time.perf_counter() - started)


def _report(
    release: str,
    blocks: int,
    found: list[Case],
    rows: list[tuple[Case, Row]],
    unread: Counter[str],
    show: bool,
    seconds: float,
) -> int:
    places = {(case.path, case.line) for case in found}
    asked = {(case.path, case.line) for case, _ in rows}
    agreed = [(case, row) for case, row in rows if row["agrees"]]
    launches = [row["as_launch"] for _, row in rows if row["as_launch"] is not None]
    print(
        f"\n{release}: {blocks} pytest.raises blocks, {len(places)} make a configuration, {len(asked)} can be read off"
    )
    print(f"{len(rows)} cases: {len(agreed)} refused as the test says, {len(rows) - len(agreed)} not")
    print(f"  in gonogo's normal form too: {sum(row['normal_form'] for _, row in agreed)}")
    print(f"  as launches of Python: {len(launches)}, {sum(launches)} end the same")
    for case, row in rows:
        if not row["agrees"] or row["as_launch"] is False or not row["normal_form"]:
            error = row["error"] or {}
            said = f"{error.get('type')}: {error.get('message')}" if error else row["reason"]
            print(
                f"\n  {case.path}:{case.line} [{case.parameters}] {'; '.join(case.steps) or ' '.join(case.argv)}"[:400]
            )
            print(f"    the test: {case.expected} {case.match or ''}"[:300])
            print(f"    here: {row['outcome']} {said} {row['last']} as launch: {row['as_launch']}"[:600])
    if show:
        print("\ncannot be read off:")
        for why, number in unread.most_common():
            print(f"  {number} {why}")
    print(f"\n{seconds:.0f} s")
    return int(len(agreed) < len(rows))


if __name__ == "__main__":
    sys.exit(main())
