"""Whole starts of real engines on a CPU, and what ``gonogo check --gpu cpu`` says of the same commands.

The real ones ran to the end: a server that came up is ``passed``, and gonogo looks no further than to the workers' weights.
Two things are told in another way by design, one is not in the command at all, and one names the host; each is named below
with its reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gonogo

pytestmark = pytest.mark.engines

DATA = Path(__file__).parents[1] / "data"
STARTS: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "oracle" / "starts.jsonl").read_text().splitlines()
]

#: The recorded site is argparse's own line. gonogo says where the engine declares the argument, which helps more.
DECLARED_AT = {
    "--kv-cache-dtype fp7": ("vllm/engine/arg_utils.py", "add_cli_args"),
    "--attention-backend flashinfr": ("sglang/srt/arg_groups/arg_utils.py", "add_cli_args_from_dataclass"),
}
#: That nobody has a model of this name is a fact of the hub, not of the command: gonogo says what it assumed instead.
UNKNOWN_MODEL = "vllm serve nope"
#: Its worker process refuses it, when it binds its threads to NUMA nodes: the pretend host has two, the real one had one.
IN_A_WORKER = ("--tp-size 3", "numa node on the machine 1", "numa node on the machine 2")


def text(row: dict[str, Any]) -> str:
    return " ".join(row["argv"])


@pytest.fixture(scope="module")
def checker() -> Iterator[gonogo.Checker]:
    with gonogo.Checker() as made:
        yield made


def check(checker: gonogo.Checker, row: dict[str, Any]) -> tuple[gonogo.LaunchResult, gonogo.WorldResult]:
    release = f"{row['engine']}=={row['release']}"
    result = checker.check(row["argv"], env=row["env"], release=release, gpu=row["gpu"], hub=False)
    (launch,) = result.launches
    (world,) = launch.worlds
    return launch, world


@pytest.mark.parametrize("row", STARTS, ids=[text(row)[:120] for row in STARTS])
def test_a_start(checker: gonogo.Checker, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA / "models")
    launch, world = check(checker, row)
    if UNKNOWN_MODEL in text(row):
        assert "model facts: nope (a stand-in: dense)" in launch.assumed
        return
    if IN_A_WORKER[0] in text(row):
        assert (world.stages["configuration"], world.stages["backends"]) == ("passed", "refused")
        row = {**row, "error": {**row["error"], "message": row["error"]["message"].replace(*IN_A_WORKER[1:])}}
    assert (world.outcome, world.depends_on) == (row["outcome"], ())
    assert launch.verdict == {"passed": "GO", "refused": "NO-GO"}[row["outcome"]]
    real, error = row["error"], world.error
    if real is None:
        assert error is None
        return
    assert error is not None
    assert (error.type, list(error.wrapped_by), error.message) == (real["type"], real["wrapped_by"], real["message"])
    assert error.site is not None
    site = (error.site.path, error.site.function.rpartition(".")[2])
    declared = [place for words, place in DECLARED_AT.items() if words in text(row)]
    if declared:
        assert real["site"]["path"] == "argparse.py"
        assert [site] == declared
        return
    assert {"path": site[0], "line": error.site.line, "function": site[1]} == real["site"]


def test_the_record_is_the_whole_record() -> None:
    assert len(STARTS) == 21
    for words in (*DECLARED_AT, UNKNOWN_MODEL, IN_A_WORKER[0]):
        assert len([row for row in STARTS if words in text(row)]) == 1, words
