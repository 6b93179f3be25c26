#!/usr/bin/env python
"""The second judge: the same engine source on the real CPU torch, with the pretend device put into it, for every GPU.

    python bench/oracle/second_judge.py vllm==0.33.0 --environment ENV [--gpu H100:8 ...] [--launches 300] [--out FOLDER]

ENV is an environment that set_up.py made, for its torch: the release's source and its other packages are those of every
dry run, and so are the stand-ins for what cannot be on a CPU (triton, kernels, compiled extensions). What differs is
that torch, torchvision, numba, xgrammar and compressed-tensors are real, as far as ENV has them. So what the two make
of a launch differs where a stand-in for torch is wrong. Both are told the version of the torch in ENV.

For each GPU it draws launches towards raise sites that no launch has reached there, as hunt.py does, asks both, and prints the
share on which each field is equal, and all that differs. With --out, each launch and both answers go to FOLDER/GPU.jsonl.
Exit code 1 if the outcome, the exception, the site or a resolved value differs where both can tell.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # bench/

from draw import Drawer, Launch
from guards import guards
from real_environment import RealEnvironment
from real_torch_world import ASK_TORCH, READ_FLAGS, BenchWorld, with_real_torch, with_stand_ins

from agreement import FIELDS, MUST_AGREE, Agreement, as_record, compare, launch_of, report
from gonogo.dryrun import DryRuns, World
from gonogo.dryrun.memory import Memory
from gonogo.dryrun.process import ChildProcess
from gonogo.hardware.parse import parse_hardware
from gonogo.launches.types import Launch as GonogoLaunch
from gonogo.models.find import Models
from gonogo.places import cache_folder
from gonogo.releases import Releases

Row = dict[str, Any]

#: The kinds that engines tell apart, oldest to newest, of both vendors; and none.
GPUS = ("T4:4", "A100-80GB:8", "L4:8", "H100-80GB:8", "H200:8", "B200:8", "MI300X:8", "MI355X:8", "cpu")
_AT_ONCE = 150  # questions to torch in one dry run, whose time is limited
_DATA = Path(__file__).resolve().parents[2] / "tests" / "data"


class SecondJudge:
    """One release on one GPU, asked both ways. Close it, or use it with ``with``."""

    def __init__(self, engine: str, release: str, gpu: str, environment: RealEnvironment, folder: Path = _DATA) -> None:
        """Launches start in ``folder``, which holds models/."""
        ready = Releases().get(engine, release)
        ready = replace(ready, versions={**ready.versions, "torch": environment.version("torch")})
        self.engine = engine
        self.world = World(ready, parse_hardware(gpu))
        self._models = Models(folder=folder, hub=False)
        self._open = ExitStack()
        place = Path(tempfile.mkdtemp(prefix="gonogo-second-judge-"))
        self._open.callback(shutil.rmtree, place, ignore_errors=True)
        self.real_world = with_real_torch(self.world, environment, place / "real")
        self._stand_ins = with_stand_ins(self.world, place / "stand-ins")
        self._ours = self._open.enter_context(DryRuns(_Forgetful(cache_folder() / "outcomes"), jobs=1, backends=False))
        self._judges = self._open.enter_context(_Undoubting(jobs=1, backends=False))

    def dry_run(self, launch: Row) -> Row:
        """What gonogo says of a launch (``argv``, ``env``), in the terms of a record."""
        answer = self._ours.answer(launch_of(self.engine, launch), self.world, self._models)
        return as_record(answer.words, answer.depends)

    def ask(self, launch: Row) -> Row:
        """What the engine says on the real torch."""
        answer = self._judges.answer(launch_of(self.engine, launch), self.real_world, self._models)
        return as_record(answer.words, answer.depends)

    def flags(self) -> list[Row]:
        """The release's parser, read out by read_flags.py in the judge's child."""
        flags: list[Row] = json.loads(self._question(self.real_world, READ_FLAGS)["flags"])
        return flags

    def ask_torch(self, expressions: list[str], env: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """What the real torch and the stand-in say to each expression, as text, in a launch with these variables."""
        told: list[dict[str, str]] = [{}, {}]
        for world, answers in zip((self.real_world, self._stand_ins), told, strict=True):
            for first in range(0, len(expressions), _AT_ONCE):
                some = tuple(expressions[first : first + _AT_ONCE])
                answers.update(self._question(world, ASK_TORCH, some, env))
        return told[0], told[1]

    def _question(
        self, world: BenchWorld, target: str, positional: tuple[str, ...] = (), env: dict[str, str] | None = None
    ) -> dict[str, str]:
        """An answer of the bench's own adapter (real_torch/adapter.py)."""
        launch = GonogoLaunch(self.engine, (), "call", target, (), positional=positional, env=env or {})
        words = self._judges.answer(launch, world, self._models).words
        if words["outcome"] != "passed":
            raise RuntimeError(f"{target} has no answer: {words.get('reason') or words.get('traceback')}")
        told: dict[str, str] = words["resolved"]
        return told

    def drawn(self, count: int, seed: int) -> Iterator[tuple[Launch, Row]]:
        """Launches and the judge's answers, each drawn with what the answers before it taught."""
        root = self.world.release.root
        models = sorted(f"models/{place.name}" for place in (_DATA / "models").glob("tiny-*"))
        drawer = Drawer(self.engine, self.flags(), guards(self.engine, root), models, device=None)
        for number in range(count):
            name = f"{self.engine}-{self.world.release.version}-{self.world.hardware.gpu.name}-{seed}-{number}"
            launch = {**drawer.draw(random.Random(name), name), "env": {}}
            answer = self.ask(launch)
            drawer.learn(launch, answer)
            yield launch, answer

    def close(self) -> None:
        """End all children and remove the joined environment."""
        self._open.close()

    def __enter__(self) -> SecondJudge:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


class _Forgetful(Memory):
    """Which decisions at import matter is remembered, outcomes are not: they are what is measured."""

    def recall(self, *_asked: object) -> None:
        """Nothing."""

    def keep(self, *_told: object) -> None:
        """Nothing."""


class _Undoubting(DryRuns):
    """Dry runs that take no decision the other way: what stays unknown on the real torch is so on the stand-in too."""

    def _depends_on(self, child: ChildProcess, request: Row, answer: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return super()._depends_on(child, request, {**answer, "decisions": []})

    def _depends_on_import(self, *_asked: object) -> tuple[str, ...]:
        return ()


def judge(second: SecondJudge, launches: Iterator[tuple[Launch, Row]], out: Path | None) -> Agreement:
    """Compare the judge's answers with the dry runs; both are written to ``out``."""
    rows = ({**answer, **{name: launch[name] for name in ("id", "argv", "env")}} for launch, answer in launches)
    if out is None:
        return compare(rows, second.dry_run)
    with out.open("w", encoding="utf-8") as file:

        def kept() -> Iterator[Row]:
            for row in rows:
                file.write(json.dumps({"real": row}) + "\n")
                yield row

        def dry_run(launch: Row) -> Row:
            ours = second.dry_run(launch)
            file.write(json.dumps({"ours": ours}) + "\n")
            file.flush()
            return ours

        return compare(kept(), dry_run)


@dataclass(frozen=True)
class Tally:
    """Ids of the launches on which the two are not the same: those where one of them cannot tell, and the rest."""

    ours_unclear: frozenset[str]
    judge_unclear: frozenset[str]
    differing: frozenset[str]

    @classmethod
    def of(cls, found: Agreement) -> Tally:
        """A launch that is unclear to gonogo is a HOLD: an honest answer, and none that the judge contradicts."""
        outcomes = [one for one in found.differences if one.field == "outcome"]
        ours = frozenset(one.id for one in outcomes if str(one.ours).startswith("unclear"))
        judge = frozenset(one.id for one in outcomes if str(one.real).startswith("unclear")) - ours
        return cls(ours, judge, frozenset(one.id for one in found.differences) - ours - judge)

    def line(self, gpu: str, found: Agreement) -> str:
        """In words, with the number of launches on which each field is equal."""
        same = found.launches - len(self.ours_unclear) - len(self.judge_unclear) - len(self.differing)
        fields = ", ".join(f"{name} {found.equal[name]}" for name in FIELDS)
        return (
            f"{gpu:12} {same} of {found.launches} agree in every field, {len(self.ours_unclear)} are unclear to gonogo, "
            f"{len(self.judge_unclear)} to the judge, {len(self.differing)} differ ({fields})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="vllm==0.33.0")
    parser.add_argument("--environment", type=Path, required=True)
    parser.add_argument("--gpu", action="append", help=f"as in gonogo check (default: {' '.join(GPUS)})")
    parser.add_argument("--launches", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=int, default=3)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that children and folders go too
    engine, _, release = chosen.release.partition("==")
    environment = RealEnvironment.at(chosen.environment)
    lines, differ = [], False
    for gpu in chosen.gpu or GPUS:
        started = time.monotonic()
        with SecondJudge(engine, release, gpu, environment) as second:
            name = second.world.hardware.gpu.name
            out = None if chosen.out is None else chosen.out / f"{engine}-{release}-{name}.jsonl"
            if out is not None:
                out.parent.mkdir(parents=True, exist_ok=True)
            found = judge(second, second.drawn(chosen.launches, chosen.seed), out)
        print(f"\n{chosen.release} on {gpu}, real: {', '.join(second.real_world.real)}")
        print(report(found, chosen.show), f"\n{time.monotonic() - started:.0f} s", flush=True)
        tally = Tally.of(found)
        lines.append(tally.line(gpu, found))
        differ = differ or any(one.field in MUST_AGREE and one.id in tally.differing for one in found.differences)
    print(f"\n{chosen.release}, torch {environment.version('torch')}, seed {chosen.seed}", *lines, sep="\n")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
