"""Hardware as people write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.hardware.catalog import gpu_named, known_gpus
from gonogo.hardware.parse import MOST_GPUS, parse_hardware
from gonogo.problems import UsageProblem

GPUS = [gpu for gpu in known_gpus() if gpu.vendor != "cpu"]


@pytest.mark.parametrize(
    ("text", "name", "count", "nodes", "label"),
    [
        ("H100-80GB", "H100-80GB", 1, 1, "1x H100-80GB"),
        ("H100-80GB:8", "H100-80GB", 8, 1, "8x H100-80GB"),
        ("H100-80GB:8x2", "H100-80GB", 8, 2, "2 nodes of 8x H100-80GB"),
        ("h100:8", "H100-80GB", 8, 1, "8x H100-80GB"),
        ("MI300X", "MI300X", 1, 1, "1x MI300X"),
        ("MI300X:8", "MI300X", 8, 1, "8x MI300X"),
        ("MI300X:8x4", "MI300X", 8, 4, "4 nodes of 8x MI300X"),
        ("mi355x:8X2", "MI355X", 8, 2, "2 nodes of 8x MI355X"),
        (" L4 : 2 ", "L4", 2, 1, "2x L4"),
        ("RTX-5060Ti-16GB:08", "RTX-5060Ti-16GB", 8, 1, "8x RTX-5060Ti-16GB"),
        ("NVIDIA A100 80GB PCIe:4", "A100-80GB-PCIe", 4, 1, "4x A100-80GB-PCIe"),
        ("cpu", "cpu", 0, 1, "cpu"),
        (" CPU ", "cpu", 0, 1, "cpu"),
    ],
)
def test_reads(text: str, name: str, count: int, nodes: int, label: str) -> None:
    hardware = parse_hardware(text)
    assert (hardware.gpu.name, hardware.count, hardware.nodes, hardware.label) == (name, count, nodes, label)


@pytest.mark.parametrize(
    ("text", "count", "nodes"),
    # Public reports: 16 and 24 H100, 16 H20 are nodes of eight; a GB200 tray holds four; one GB10 a machine.
    [
        ("H100-80GB:16", 8, 2),
        ("H100-80GB:24", 8, 3),
        ("H20:16", 8, 2),
        ("H100-80GB:12", 6, 2),
        ("GB200:8", 4, 2),
        ("GB200:72", 4, 18),
        ("GB10:2", 1, 2),
        ("MI300X:16", 8, 2),
    ],
)
def test_a_count_that_no_node_holds_is_split_and_said_so(text: str, count: int, nodes: int) -> None:
    hardware = parse_hardware(text)
    assert (hardware.count, hardware.nodes) == (count, nodes)
    (assumed,) = hardware.assumed
    assert f"{nodes} nodes of {count}" in assumed
    # What is said to be the other reading must be understood, and be one node.
    name, _, whole = text.partition(":")
    other = parse_hardware(f"{name}:{whole}x1")
    assert f"{name}:{whole}x1" in assumed
    assert (other.count, other.nodes, other.assumed) == (int(whole), 1, ())


@pytest.mark.parametrize("text", ["H100-80GB:8", "A100-40GB:16", "L4:10", "RTX-3090:8", "GB300:4", "H100-80GB:16x1"])
def test_nothing_is_assumed_where_all_is_said(text: str) -> None:
    hardware = parse_hardware(text)
    assert hardware.nodes == 1
    assert hardware.assumed == ()


def test_a_family_and_a_split_are_both_said() -> None:
    hardware = parse_hardware("H100:16")
    assert [line.partition(":")[0] for line in hardware.assumed] == ["gpu", "nodes"]


def test_what_was_assumed_is_no_part_of_the_hardware() -> None:
    assert parse_hardware("H100:16") == parse_hardware("H100-80GB:8x2")
    assert hash(parse_hardware("H100:16")) == hash(parse_hardware("H100-80GB:8x2"))


@pytest.mark.parametrize(
    ("text", "ram_gib", "machine"),
    [
        ("H100-80GB:8", 2048, "x86_64"),
        ("MI300X:8", 2048, "x86_64"),
        ("cpu", 2048, "x86_64"),
        ("RTX-4090", 64, "x86_64"),
        ("GB200:4", 960, "aarch64"),
    ],
)
def test_the_host_is_that_of_the_gpu(text: str, ram_gib: int, machine: str) -> None:
    host = parse_hardware(text).host
    assert (host.ram_bytes >> 30, host.machine) == (ram_gib, machine)


def test_spark_shares_its_memory_with_the_host() -> None:
    hardware = parse_hardware("GB10")
    assert hardware.host.machine == "aarch64"
    assert hardware.host.ram_bytes == hardware.gpu.torch_memory_bytes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no GPU is named in ''"),
        ("   ", "no GPU is named"),
        (":8", "no GPU is named in ':8'"),
        ("H100:0", "asks for 0"),
        ("H100:000", "asks for 0"),
        ("H100:8x0", "asks for 0"),
        ("H100:0x2", "asks for 0"),
        ("H100:-1", "no number of GPUs"),
        ("H100:+1", "no number of GPUs"),
        ("H100:1.5", "no number of GPUs"),
        ("H100:1e3", "no number of GPUs"),
        ("H100:", "no number of GPUs"),
        ("H100:x2", "no number of GPUs"),
        ("H100:8x", "no number of GPUs"),
        ("H100:8x2x2", "no number of GPUs"),
        ("H100:８", "no number of GPUs"),
        ("H100:8:2", "unknown GPU 'H100:8'"),
        ("H100:1025", "more than 1024 GPUs"),
        ("H100:8x200", "more than 1024 GPUs"),
        ("H100:" + "9" * 5000, "more than 1024 GPUs"),
        ("H100-80GB:11", "do not split evenly into nodes of at most 8"),
        ("cpu:1", "cpu takes no count"),
        ("cpu:0", "cpu takes no count"),
        ("8xH100", "write H100:8"),
        ("8 x H100", "write H100:8"),
        ("2xMI300X", "write MI300X:2"),
        ("H100x8", "write H100:8"),
        ("MI300Xx8", "write MI300X:8"),
        ("Voodoo:2", "unknown GPU 'Voodoo'"),
        ("H10:2", "did you mean"),
    ],
)
def test_refuses_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        parse_hardware(text)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.exit_code == 2


@given(st.sampled_from(GPUS), st.integers(1, 64), st.integers(1, 16))
def test_reads_back_what_is_written_in_full(gpu: object, count: int, nodes: int) -> None:
    name = getattr(gpu, "name", "")
    hardware = parse_hardware(f"{name}:{count}x{nodes}")
    assert (hardware.gpu, hardware.count, hardware.nodes, hardware.assumed) == (gpu, count, nodes, ())


@given(st.sampled_from(GPUS), st.integers(1, MOST_GPUS))
def test_a_split_keeps_the_number_of_gpus(gpu: object, count: int) -> None:
    name = getattr(gpu, "name", "")
    most = gpu_named(name).max_per_node
    try:
        hardware = parse_hardware(f"{name}:{count}")
    except UsageProblem:
        # Refused only where the fewest nodes that hold them would be unequal.
        assert count > most
        assert count % -(-count // most)
    else:
        assert hardware.count * hardware.nodes == count
        assert hardware.count <= most
        assert bool(hardware.assumed) == (hardware.nodes > 1)


@given(st.text(alphabet="H100xX:8-A MI3GBcpu\0\n", max_size=20) | st.text(max_size=30))
def test_any_text_is_hardware_or_a_usage_problem(text: str) -> None:
    problem = ""
    try:
        hardware = parse_hardware(text)
        assert 0 <= hardware.count * hardware.nodes <= MOST_GPUS
        assert (hardware.count == 0) == (hardware.gpu.vendor == "cpu")
    except UsageProblem as caught:
        problem = str(caught)
    assert len(problem.splitlines()) <= 1


def test_a_megabyte_of_name_is_refused_shortly() -> None:
    with pytest.raises(UsageProblem) as caught:
        parse_hardware("H" * 1_000_000 + ":8")
    assert len(str(caught.value)) < 400
