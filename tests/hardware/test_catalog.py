"""The catalog against what drivers, torch and rocminfo said in public logs, typed in here by hand from those."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.hardware import catalog as catalog_module
from gonogo.hardware.catalog import catalog, find_gpu, gpu_named, known_gpus, read_catalog
from gonogo.hardware.hosts import known_hosts
from gonogo.hardware.types import GPU
from gonogo.problems import OwnProblem, UsageProblem

# name, device name, MiB, capability: lines of `nvidia-smi --query-gpu=name,memory.total,compute_cap` and of pull
# request 2797 of modal-labs/modal-client; GB10 from deviceQuery; AMD from torch's and rocminfo's output.
DRIVERS = [
    ("H100-80GB", "NVIDIA H100 80GB HBM3", 81559, (9, 0)),
    ("H200", "NVIDIA H200", 143771, (9, 0)),
    ("H20", "NVIDIA H20", 97871, (9, 0)),
    ("A100-40GB", "NVIDIA A100-SXM4-40GB", 40960, (8, 0)),
    ("A100-80GB", "NVIDIA A100-SXM4-80GB", 81920, (8, 0)),
    ("A800-80GB", "NVIDIA A800-SXM4-80GB", 81920, (8, 0)),
    ("L4", "NVIDIA L4", 23034, (8, 9)),
    ("L40S", "NVIDIA L40S", 46068, (8, 9)),
    ("A10", "NVIDIA A10", 23028, (8, 6)),
    ("T4", "Tesla T4", 15360, (7, 5)),
    ("V100-32GB", "Tesla V100-SXM2-32GB", 32768, (7, 0)),
    ("B200", "NVIDIA B200", 183359, (10, 0)),
    ("B300", "NVIDIA B300 SXM6 AC", 275040, (10, 3)),
    ("GB200", "NVIDIA GB200", 189471, (10, 0)),
    ("GB300", "NVIDIA GB300", 284208, (10, 3)),
    ("GB10", "NVIDIA GB10", 122570, (12, 1)),
    ("RTX-3060Ti", "NVIDIA GeForce RTX 3060 Ti", 8192, (8, 6)),
    ("RTX-3090", "NVIDIA GeForce RTX 3090", 24576, (8, 6)),
    ("RTX-4070", "NVIDIA GeForce RTX 4070", 12282, (8, 9)),
    ("RTX-4090", "NVIDIA GeForce RTX 4090", 24564, (8, 9)),
    ("RTX-5060Ti-16GB", "NVIDIA GeForce RTX 5060 Ti", 16311, (12, 0)),
    ("RTX-5070Ti-16GB", "NVIDIA GeForce RTX 5070 Ti", 16303, (12, 0)),
    ("RTX-5090", "NVIDIA GeForce RTX 5090", 32607, (12, 0)),
    ("RTX-PRO-6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, (12, 0)),
    ("MI300X", "AMD Instinct MI300X", 196592, (9, 4)),
    ("MI325X", "AMD Instinct MI325X", 262128, (9, 4)),
    ("MI355X", "AMD Instinct MI355X", 294896, (9, 5)),
    ("A10G", "NVIDIA A10G", 23028, (8, 6)),
    ("A40", "NVIDIA A40", 46068, (8, 6)),
    ("L40", "NVIDIA L40", 46068, (8, 9)),
    ("H100-NVL", "NVIDIA H100 NVL", 95830, (9, 0)),
    ("H100-PCIe", "NVIDIA H100 PCIe", 81559, (9, 0)),
    ("V100-16GB", "Tesla V100-SXM2-16GB", 16384, (7, 0)),
    ("RTX-A6000", "NVIDIA RTX A6000", 49140, (8, 6)),
    ("RTX-A5000", "NVIDIA RTX A5000", 24564, (8, 6)),
    ("MI250X", "AMD Instinct MI250X/MI250", 65520, (9, 0)),
]

# multi_processor_count as torch or deviceQuery print it; "Compute Unit" of rocminfo.
UNITS = {
    "H100-80GB": 132, "H100-PCIe": 114, "H200": 132, "H20": 78, "A100-80GB": 108, "L4": 58, "L40S": 142, "A10": 72,
    "A10G": 80, "A40": 84, "T4": 40, "V100-32GB": 80, "B200": 148, "B300": 148, "GB200": 152, "GB300": 152, "GB10": 48,
    "RTX-3060Ti": 38, "RTX-3090": 82, "RTX-4070": 46, "RTX-4090": 128, "RTX-5060Ti-16GB": 36, "RTX-5070Ti-16GB": 70,
    "RTX-5090": 170, "RTX-PRO-6000": 188, "MI300X": 304, "MI325X": 304, "MI355X": 256, "MI250X": 110, "MI210": 104,
}  # fmt: skip

# max_shared_memory_per_block_optin in KiB: NVIDIA/cccl's arch_traits.h; 12.1 as 12.0.
SHARED_KIB = {
    (7, 0): 96, (7, 5): 64, (8, 0): 163, (8, 6): 99, (8, 9): 99, (9, 0): 227, (10, 0): 227, (10, 3): 227, (12, 0): 99,
    (12, 1): 99,
}  # fmt: skip
# Local data share in KiB: pull request 119 of lightseekorg/tokenspeed, read off an MI355X.
LDS_KIB = {"gfx90a": 64, "gfx942": 64, "gfx950": 160}

# total_memory in MB (of 1024 x 1024) as torch prints it, of machines whose driver says the figure in DRIVERS.
TORCH = {"H100-80GB": 81089, "H200": 143156, "B200": 182642, "H20": 97285, "A100-80GB": 81051, "L40S": 45373}

# L2_cache_size as torch prints it, in MB, rounded down.
L2_MB = {
    "H100-80GB": 50, "H200": 60, "B200": 126, "RTX-4090": 72, "RTX-PRO-6000": 128, "MI300X": 4, "T4": 4, "GB10": 24,
}  # fmt: skip


@pytest.mark.parametrize(("name", "device_name", "mib", "capability"), DRIVERS)
def test_is_what_the_driver_says(name: str, device_name: str, mib: int, capability: tuple[int, int]) -> None:
    gpu = gpu_named(name)
    assert (gpu.name, gpu.device_name, gpu.memory_mib, gpu.capability) == (name, device_name, mib, capability)


@pytest.mark.parametrize(("name", "units"), UNITS.items())
def test_units(name: str, units: int) -> None:
    assert gpu_named(name).sm_count == units


@pytest.mark.parametrize("gpu", known_gpus(), ids=lambda gpu: gpu.name)
def test_shared_memory_follows_the_architecture(gpu: GPU) -> None:
    if gpu.vendor == "nvidia":
        assert gpu.capability is not None
        assert gpu.shared_memory_per_block_optin == SHARED_KIB[gpu.capability] * 1024
    elif gpu.vendor == "amd":
        assert gpu.gfx is not None
        assert gpu.shared_memory_per_block_optin == LDS_KIB[gpu.gfx] * 1024
        assert gpu.warp_size == 64
        assert gpu.pci_device_id.startswith("0x")


@pytest.mark.parametrize(("name", "mb"), L2_MB.items())
def test_l2_cache(name: str, mb: int) -> None:
    assert gpu_named(name).l2_cache_bytes >> 20 == mb


@pytest.mark.parametrize(("name", "mb"), TORCH.items())
def test_torch_sees_less_memory_than_the_driver(name: str, mb: int) -> None:
    gpu = gpu_named(name)
    assert gpu.torch_memory_bytes == mb << 20
    assert gpu.torch_memory_mib < gpu.memory_mib


def test_torch_memory_is_the_drivers_where_no_other_is_known() -> None:
    gpu = gpu_named("MI300X")
    assert gpu.torch_memory_bytes == 196592 << 20


def test_grace_and_spark_are_arm_and_spark_shares_its_memory() -> None:
    arm = {gpu.name for gpu in known_gpus() if gpu.machine == "aarch64"}
    assert arm == {"GB200", "GB300", "GB10", "GH200"}
    assert {gpu.name for gpu in known_gpus() if gpu.integrated} == {"GB10"}
    assert {gpu.name for gpu in known_gpus() if not gpu.nvml_memory} == {"GB10"}


def test_nvlink_where_modules_share_a_board() -> None:
    linked = {gpu.name for gpu in known_gpus() if gpu.nvlink}
    assert {"H100-80GB", "H200", "A100-80GB", "B200", "GB300", "MI300X", "MI355X"} <= linked
    assert not linked & {"L4", "T4", "L40S", "RTX-4090", "H100-PCIe", "GB10", "MI210", "cpu"}


def test_amd_architectures() -> None:
    said = {gpu.name: gpu.gfx for gpu in known_gpus() if gpu.vendor == "amd"}
    assert said == {
        "MI300X": "gfx942", "MI325X": "gfx942", "MI350X": "gfx950", "MI355X": "gfx950", "MI250X": "gfx90a",
        "MI210": "gfx90a",
    }  # fmt: skip


def test_cpu_is_no_gpu() -> None:
    cpu = gpu_named("cpu")
    assert (cpu.vendor, cpu.memory_mib, cpu.capability, cpu.gfx, cpu.sm_count) == ("cpu", 0, None, None, 0)


@pytest.mark.parametrize("gpu", known_gpus(), ids=lambda gpu: gpu.name)
def test_every_fact_has_a_source(gpu: GPU) -> None:
    ours = {"name", "vendor", "host", "aliases", "sources"}
    for field in dataclasses.fields(GPU):
        if field.name in ours or getattr(gpu, field.name) == field.default:
            continue
        source = gpu.sources[field.name]
        assert len(source) > 10
        assert not source.startswith("@")
    assert set(gpu.sources) <= {field.name for field in dataclasses.fields(GPU)} - ours


@pytest.mark.parametrize("gpu", known_gpus(), ids=lambda gpu: gpu.name)
def test_sits_in_a_host_of_its_own_machine(gpu: GPU) -> None:
    assert known_hosts()[gpu.host].machine == gpu.machine


@pytest.mark.parametrize("gpu", known_gpus(), ids=lambda gpu: gpu.name)
def test_is_found_by_all_its_names(gpu: GPU) -> None:
    for name in (gpu.name, gpu.device_name, gpu.device_name.replace(" ", "-"), *gpu.aliases):
        for said in (name, name.lower(), name.upper(), name.replace("-", " "), name.replace("-", "_"), f" {name} "):
            assert gpu_named(said) is gpu


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("4090", "RTX-4090"),
        ("GeForce RTX 4090", "RTX-4090"),
        ("rtx4090", "RTX-4090"),
        ("Instinct MI300X", "MI300X"),
        ("MI300X-192GB", "MI300X"),
        ("H200-141GB", "H200"),
        ("A100-80G", "A100-80GB"),
        ("A100 80GB PCIe", "A100-80GB-PCIe"),
        ("a100-sxm4-40gb", "A100-40GB"),
        ("NVIDIA-H100-80GB-HBM3", "H100-80GB"),
        ("RTX5070Ti", "RTX-5070Ti-16GB"),
        ("RTX PRO 6000", "RTX-PRO-6000"),
        ("A6000", "RTX-A6000"),
        ("DGX Spark", "GB10"),
        ("CPU", "cpu"),
    ],
)
def test_names_that_people_write(said: str, name: str) -> None:
    found = find_gpu(said)
    assert (found.gpu.name, found.assumed) == (name, None)


@pytest.mark.parametrize(
    ("family", "name", "others"),
    [
        ("A100", "A100-80GB", ["A100-40GB", "A100-80GB-PCIe"]),
        ("h100", "H100-80GB", ["H100-PCIe", "H100-NVL"]),
        ("NVIDIA V100", "V100-32GB", ["V100-16GB"]),
        ("RTX 5060 Ti", "RTX-5060Ti-16GB", []),
        ("MI300", "MI300X", []),
    ],
)
def test_a_family_is_read_as_one_member_and_says_so(family: str, name: str, others: list[str]) -> None:
    found = find_gpu(family)
    assert found.gpu.name == name
    assert found.assumed is not None
    assert found.assumed.startswith(f"gpu: {family} is read as {name}")
    assert all(other in found.assumed for other in others)


@pytest.mark.parametrize(
    ("unknown", "close"),
    [("H1000", "H100-80GB"), ("MI30X", "MI300X"), ("RTX-4900", "RTX-4090"), ("GB3000", "GB300"), ("L400", "L40")],
)
def test_an_unknown_name_gets_close_ones(unknown: str, close: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        gpu_named(unknown)
    assert repr(unknown) in str(caught.value)
    assert close in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("unknown", ["", "  ", "-", "Voodoo", "\0", "\n", "x" * 1_000_000, "NVIDIA", "日本"])
def test_nonsense_is_unknown_in_one_short_line(unknown: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        gpu_named(unknown)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@given(st.text(max_size=40))
def test_any_text_finds_a_gpu_or_is_a_usage_problem(text: str) -> None:
    problem = ""
    try:
        assert find_gpu(text).gpu in known_gpus()
    except UsageProblem as caught:
        problem = str(caught)
    assert len(problem.splitlines()) <= 1


def test_gpus_can_be_keys() -> None:
    assert len(set(known_gpus())) == len(known_gpus())


GOOD = """
[references]
log = "a log that somebody posted"
[families]
X = "X1"
[[gpu]]
name = "X1"
vendor = "nvidia"
device_name = "NVIDIA X1"
memory_mib = 1000
capability = [9, 0]
sm_count = 10
shared_memory_per_block_optin = 1024
[gpu.sources]
device_name = "@log"
memory_mib = "@log: line 3"
capability = "@log"
sm_count = "@log"
shared_memory_per_block_optin = "@log"
"""


def test_reads_a_small_catalog(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text(GOOD)
    read = read_catalog(file)
    assert [gpu.name for gpu in read.gpus] == ["X1"]
    assert read.gpus[0].sources["memory_mib"] == "a log that somebody posted: line 3"
    assert read.find("x").assumed == "gpu: x is read as X1"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("memory_mib = 1000", 'memory_mib = "much"', "X1: memory_mib is 'much'"),
        ("memory_mib = 1000", "memory_mib = true", "X1: memory_mib is True"),
        ("memory_mib = 1000", "memory_mib = -5", "X1: memory_mib is -5"),
        ("memory_mib = 1000", "memory_mib = 1000\ntorch_memory_mib = 1001", "no source for torch_memory_mib"),
        ("capability = [9, 0]", "capability = [9]", "X1: capability is [9]"),
        ("capability = [9, 0]", "capabilty = [9, 0]", "X1: unknown field 'capabilty'"),
        ('sm_count = "@log"', "", "X1: no source for sm_count"),
        ('sm_count = "@log"', 'sm_count = "@lag"', "X1: a source refers to 'lag'"),
        ('sm_count = "@log"', 'sm_count = "@log"\nl2_cache_bytes = "@log"', "a source for l2_cache_bytes"),
        ("sm_count = 10", "", "a source for sm_count, which it does not say"),
        ('vendor = "nvidia"', 'vendor = "voodoo"', "X1: vendor is 'voodoo'"),
        ('vendor = "nvidia"', 'vendor = "amd"', "X1: gfx None and capability (9, 0) do not agree"),
        ('vendor = "nvidia"', 'vendor = "nvidia"\nhost = "cellar"', "host 'cellar' is not in hosts.toml"),
        ('vendor = "nvidia"', 'vendor = "nvidia"\nhost = "spark"', "machine is x86_64, but its host spark is not"),
        ('X = "X1"', 'X = "X2"', "no 'X2'"),
        ('vendor = "nvidia"', 'vendor = "amd"\ngfx = "gf"', "damaged"),
        ("[[gpu]]", "[gpu", "damaged"),
        ("[[gpu]]", "[[cpu]]", "[[gpu]] is no list of tables"),
        ('name = "X1"', 'name = "X1"\nname = "X1"', "damaged"),
        ('name = "X1"', "", "damaged"),
        (GOOD, GOOD + GOOD[GOOD.index("[[gpu]]") :].replace('name = "X1"', 'name = "X2"'), "already means X1"),
        (GOOD, "\0", "damaged"),
        (GOOD, "", "no 'gpu'"),
    ],
)
def test_a_damaged_catalog_is_gonogos_own_failure_in_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "some.toml"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(OwnProblem) as caught:
        read_catalog(file)
    assert said in str(caught.value)
    assert "some.toml" in str(caught.value)
    assert caught.value.exit_code == 4


def test_a_missing_catalog_is_gonogos_own_failure(tmp_path: Path) -> None:
    with pytest.raises(OwnProblem, match=r"gone\.toml"):
        read_catalog(tmp_path / "gone.toml")


def test_every_reference_is_used() -> None:
    text = Path(catalog_module.__file__).with_name("gpus.toml").read_text(encoding="utf-8")
    for key in tomllib.loads(text)["references"]:
        assert f'"@{key}"' in text or f'"@{key}:' in text, key


def test_the_catalog_is_read_once() -> None:
    assert catalog() is catalog()
