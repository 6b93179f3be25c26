"""The rows of `gonogo gpus`."""

from __future__ import annotations

from gonogo.hardware.catalog import find_gpu, known_gpus
from gonogo.hardware.listing import gpu_rows

ROWS = {row.name: row for row in gpu_rows()}


def test_a_row_for_each_gpu() -> None:
    assert list(ROWS) == [gpu.name for gpu in known_gpus()]


def test_memory_and_capability_as_people_read_them() -> None:
    assert (ROWS["A100-80GB"].memory_gib, ROWS["A100-80GB"].capability) == (80.0, "8.0")
    assert (ROWS["B300"].vendor, ROWS["B300"].capability) == ("nvidia", "10.3")
    assert (ROWS["MI300X"].vendor, ROWS["MI300X"].capability) == ("amd", "gfx942")
    assert (ROWS["cpu"].memory_gib, ROWS["cpu"].capability) == (0.0, "")


def test_every_alias_finds_its_gpu() -> None:
    for row in ROWS.values():
        for alias in row.aliases:
            assert find_gpu(alias).gpu.name == row.name


def test_family_names_are_listed_as_written() -> None:
    assert "A100" in ROWS["A100-80GB"].aliases
    assert "RTX-5060Ti" in ROWS["RTX-5060Ti-16GB"].aliases


def test_sources_are_written_out_and_the_unconfirmed_are_counted() -> None:
    row = ROWS["H100-80GB"]
    assert "modal-client pull request 2797" in row.sources["memory_mib"]
    assert row.unconfirmed == 0
    assert ROWS["MI350X"].unconfirmed > 0
