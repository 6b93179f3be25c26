"""The second judge: torch is real, the device is pretended. A small sample; bench/oracle/second_judge.py asks more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from real_torch_world import with_real_torch
from second_judge import SecondJudge, Tally

from agreement import compare, read_record, report
from tests.dryrun.test_torch_stand_in import AMD, NONE, NVIDIA, OLD, PAGE, QUESTIONS, ask
from tests.dryrun.tiny_world import Runs, make_world
from tests.oracle.environments import real_environment

pytestmark = pytest.mark.oracle

DATA = Path(__file__).parents[1] / "data"
#: One launch in so many of those that are recorded.
ONE_IN = 12


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Runs]]:
    environment = real_environment("vllm")
    folder = tmp_path_factory.mktemp("real-torch")
    made = {}
    for gpu in (NVIDIA, OLD, AMD, NONE):
        world = with_real_torch(make_world(folder / gpu[:3], PAGE, gpu), environment, folder / f"{gpu[:3]}-real")
        made[gpu] = Runs(world, folder)
    yield made
    for each in made.values():
        each.close()


@pytest.mark.parametrize(("gpu", "env", "expression", "value"), QUESTIONS)
def test_the_real_torch_says_so_too(
    real: dict[str, Runs], gpu: str, env: dict[str, str], expression: str, value: str
) -> None:
    assert ask(real[gpu], env, expression) == value


def sample(engine: str) -> list[dict[str, Any]]:
    """Launches that are recorded from the real engine on a CPU, as they would be written for a GPU."""
    (record,) = (DATA / "oracle").glob(f"{engine}-*.jsonl")
    rows = [row for row in read_record(record.read_text(encoding="utf-8").splitlines()) if not row["env"]]
    return [{**row, "argv": _without_device(row["argv"])} for row in rows[::ONE_IN]]


def _without_device(argv: list[str]) -> list[str]:
    at = argv.index("--device") if "--device" in argv else len(argv)
    return argv[:at] + argv[at + 2 :]


@pytest.mark.parametrize("gpu", ["H100-80GB:8", "MI300X:8"])
@pytest.mark.parametrize(("engine", "release"), [("vllm", "0.32.0"), ("vllm", "0.33.0"), ("sglang", "0.5.23")])
def test_launches_fare_as_on_the_real_torch(engine: str, release: str, gpu: str) -> None:
    launches = sample(engine)
    with SecondJudge(engine, release, gpu, real_environment(engine)) as second:
        found = compare(
            ({**second.ask(row), "id": row["id"], "argv": row["argv"], "env": {}} for row in launches), second.dry_run
        )
    tally = Tally.of(found)
    assert found.launches == len(launches) >= 20
    assert tally.differing == frozenset(), report(found, 5)
    assert len(tally.ours_unclear) + len(tally.judge_unclear) <= found.launches // 4, json.dumps(
        sorted(tally.ours_unclear)
    )
