"""The hardware that is tried when a launch leaves it open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.hardware.representative import representative
from gonogo.problems import UsageProblem


def test_covers_vendors_and_generations() -> None:
    tried = representative(1)
    assert {hardware.gpu.name for hardware in tried} == {"A100-80GB", "L4", "H100-80GB", "B200", "MI300X"}
    assert {hardware.gpu.vendor for hardware in tried} == {"nvidia", "amd"}
    assert len({hardware.gpu.capability for hardware in tried}) == 5
    assert all(hardware.assumed == () for hardware in tried)


@pytest.mark.parametrize(
    ("needed", "count", "nodes"),
    [(-3, 1, 1), (0, 1, 1), (1, 1, 1), (8, 8, 1), (9, 8, 2), (12, 6, 2), (16, 8, 2), (24, 8, 3), (1024, 8, 128)],
)
def test_counts(needed: int, count: int, nodes: int) -> None:
    for hardware in representative(needed):
        assert (hardware.count, hardware.nodes) == (count, nodes)


@given(st.integers(1, 1024))
def test_has_enough_gpus_and_less_than_a_node_too_many(needed: int) -> None:
    for hardware in representative(needed):
        assert hardware.count <= 8
        assert needed <= hardware.count * hardware.nodes < needed + 8


def test_absurd_sizes_are_refused() -> None:
    with pytest.raises(UsageProblem, match="needs 1025 GPUs, more than the 1024"):
        representative(1025)
