from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from gonogo.check.result import WorldResult
from gonogo.check.verdict import decided_by, verdict_of, worst
from tests.reports.samples import refused, world


def crashed(**changed: Any) -> WorldResult:
    return refused(**{"outcome": "crashed", **changed})


def unclear(**changed: Any) -> WorldResult:
    return world(**{"outcome": "unclear", "reason": "a file is missing", **changed})


@pytest.mark.parametrize(
    ("worlds", "verdict"),
    [
        ([world()], "GO"),
        ([world(), world(gpu="L4")], "GO"),
        ([refused()], "NO-GO"),
        ([crashed()], "NO-GO"),
        ([refused(), crashed(gpu="L4")], "NO-GO"),
        ([unclear()], "HOLD"),
        ([world(), refused(gpu="L4")], "HOLD"),
        ([world(), crashed(gpu="L4")], "HOLD"),
        ([refused(), unclear(gpu="L4")], "HOLD"),  # in some world it may pass: never a NO-GO on a guess
        ([world(), unclear(gpu="L4")], "HOLD"),
        ([], "HOLD"),
    ],
)
def test_a_verdict_is_over_all_worlds(worlds: list[WorldResult], verdict: str) -> None:
    for order in permutations(worlds):
        assert verdict_of(order) == verdict


def test_worst() -> None:
    assert worst(["GO", "HOLD", "NO-GO"]) == "NO-GO"
    assert worst(["GO", "HOLD", "GO"]) == "HOLD"
    assert worst(["GO", "GO"]) == "GO"
    assert worst([]) == "HOLD"  # nothing was looked at


@pytest.mark.parametrize(
    ("worlds", "decides"),
    [
        ((world(gpu="H100-80GB"), refused(gpu="L4")), "gpu"),
        ((world(count=8), refused(count=4)), "gpu"),
        ((world(nodes=1), refused(nodes=2)), "gpu"),
        ((world(model="a/dense"), refused(model="a/moe")), "model"),
        ((world(release="0.32.0"), refused(release="0.33.0")), "release"),
        # a crossed table in which the release alone tells passes from refusals
        (
            (
                world(release="1", gpu="L4"),
                world(release="1", gpu="H100-80GB"),
                refused(release="2", gpu="L4"),
                refused(release="2", gpu="H100-80GB"),
            ),
            "release",
        ),
        # nothing alone does
        (
            (
                world(release="1", gpu="L4"),
                refused(release="1", gpu="H100-80GB"),
                refused(release="2", gpu="L4"),
                world(release="2", gpu="H100-80GB"),
            ),
            "several",
        ),
        # what passes on one GPU and is unclear on another hangs on the GPU too
        ((world(), unclear(gpu="L4")), "gpu"),
        ((unclear(), unclear(gpu="L4")), None),
        ((unclear(),), None),
        ((world(), world(gpu="L4")), None),
        ((refused(), refused(gpu="L4")), None),
    ],
)
def test_what_decides(worlds: tuple[WorldResult, ...], decides: str | None) -> None:
    assert decided_by(worlds) == decides
