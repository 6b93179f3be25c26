"""What real engines answered to several hundred launches, and what gonogo says of the same: every field, every launch."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from agreement import FIELDS, compare, dry_runs, read_record, report

DATA = Path(__file__).parents[1] / "data"
RECORDS = [("vllm", "0.32.0"), ("sglang", "0.5.23")]


def record(engine: str, release: str) -> list[dict[str, Any]]:
    return list(read_record((DATA / "oracle" / f"{engine}-{release}.jsonl").read_text().splitlines()))


@pytest.mark.engines
@pytest.mark.parametrize(("engine", "release"), RECORDS)
def test_every_recorded_launch_fares_as_it_did_in_the_real_engine(engine: str, release: str) -> None:
    real = record(engine, release)
    machine = json.loads((DATA / "oracle" / f"machine-{engine}.json").read_text())
    with dry_runs(engine, release, machine, DATA) as dry_run:
        found = compare(real, dry_run)
    assert found.launches == len(real)
    assert {name: found.launches - found.equal[name] for name in FIELDS} == dict.fromkeys(FIELDS, 0), report(found, 5)


@pytest.mark.parametrize(
    ("engine", "release", "drawn", "sites"), [("vllm", "0.32.0", 200, 60), ("sglang", "0.5.23", 150, 60)]
)
def test_the_record_is_worth_the_comparison(engine: str, release: str, drawn: int, sites: int) -> None:
    rows = record(engine, release)
    assert len({row["id"] for row in rows}) == len(rows)
    assert len([row for row in rows if row["id"].startswith(f"{engine}-1-")]) == drawn
    assert {row["outcome"] for row in rows} == {"passed", "refused", "crashed"}
    assert {row["stage"] for row in rows} == {"arguments", "configuration"}
    assert len({json.dumps(row["site"]) for row in rows if row["site"]}) >= sites
    assert min(len(row["resolved"]) for row in rows if row["outcome"] == "passed") >= 20
    assert any(row["env"] for row in rows)
    assert any(row["warnings"] for row in rows)


def test_a_difference_in_any_field_is_seen() -> None:
    (row,) = [row for row in record("vllm", "0.32.0") if row["id"] == "vllm-1-1"]
    other = {
        "outcome": "refused",
        "stage": "arguments",
        "type": "ValueError",
        "wrapped_by": ["ValidationError"],
        "message": "no",
        "site": {"path": "vllm/a.py", "line": 1, "function": "f"},
        "warnings": row["warnings"][:-1],
        "resolved": {**row["resolved"], "model_config.max_model_len": "1"},
    }
    assert set(other) == set(FIELDS)
    for name in FIELDS:
        changed = copy.deepcopy(row)
        changed[name] = other[name]
        found = compare([row], lambda _launch, changed=changed: changed)  # type: ignore[misc]
        assert [difference.field for difference in found.differences] == [name]
    assert compare([row], lambda _launch: row).differences == []
