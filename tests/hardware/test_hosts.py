"""Hosts that come with gonogo, and hosts that a user describes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.hardware import hosts as hosts_module
from gonogo.hardware.hosts import host_from_toml, host_named, known_hosts
from gonogo.hardware.types import Host
from gonogo.problems import OwnProblem, UsageProblem


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "host.toml"


@pytest.mark.parametrize(
    ("name", "ram_gib", "machine"),
    [
        ("datacentre", 2048, "x86_64"),
        ("workstation", 256, "x86_64"),
        ("desktop", 64, "x86_64"),
        ("grace-blackwell", 960, "aarch64"),
    ],
)
def test_kinds(name: str, ram_gib: int, machine: str) -> None:
    host = host_named(name)
    assert (host.ram_bytes >> 30, host.machine) == (ram_gib, machine)


@pytest.mark.parametrize("host", [Host(), *known_hosts().values()])
def test_a_host_has_less_memory_free_than_in_all(host: Host) -> None:
    assert 0 < host.available_ram_bytes < host.ram_bytes
    assert host.available_ram_bytes > host.ram_bytes * 9 // 10
    assert host.open_files_soft <= host.open_files_hard


def test_arm_hosts_have_no_x86_flags() -> None:
    for host in known_hosts().values():
        assert any(flag.startswith("avx") for flag in host.cpu_flags) == (host.machine == "x86_64")


def test_an_unknown_host_is_refused_with_those_known() -> None:
    with pytest.raises(UsageProblem, match=r"unknown host 'cellar'.*datacentre, desktop"):
        host_named("cellar")


def test_an_empty_file_changes_nothing(file: Path) -> None:
    file.write_text("")
    assert host_from_toml(file) == Host()
    assert host_from_toml(file, host_named("desktop")) == host_named("desktop")


def test_changes_what_is_said_and_keeps_the_rest(file: Path) -> None:
    file.write_text('cpus = 1\nopen_files_soft = 1024\nhostname = "laptop"\ncpu_flags = ["avx2"]\n')
    changed = dataclasses.replace(Host(), cpus=1, open_files_soft=1024, hostname="laptop", cpu_flags=("avx2",))
    assert host_from_toml(file) == changed


def test_starts_from_a_kind(file: Path) -> None:
    file.write_text('base = "desktop"\ncpus = 256\n')
    assert host_from_toml(file) == dataclasses.replace(host_named("desktop"), cpus=256)


def test_free_memory_follows_where_only_ram_is_said(file: Path) -> None:
    file.write_text("ram_bytes = 16_000_000_000\n")
    host = host_from_toml(file)
    assert (host.ram_bytes, host.available_ram_bytes) == (16_000_000_000, 15_200_000_000)


@given(ram=st.integers(1, 1 << 62), cpus=st.integers(1, 4096))
def test_any_sensible_size_is_taken(tmp_path_factory: pytest.TempPathFactory, ram: int, cpus: int) -> None:
    file = tmp_path_factory.mktemp("host") / "host.toml"
    file.write_text(f"ram_bytes = {ram}\ncpus = {cpus}\n")
    host = host_from_toml(file)
    assert (host.ram_bytes, host.cpus) == (ram, cpus)
    assert 0 < host.available_ram_bytes <= ram


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ram = 1", "unknown key 'ram'"),
        ("ram_byte = 1", "is it ram_bytes?"),
        ("zzz = 1", "use ram_bytes, available_ram_bytes"),
        ("cpus = 0", "cpus is a whole number above 0, not 0"),
        ("cpus = -4", "not -4"),
        ("cpus = true", "not True"),
        ("cpus = 1.5", "not 1.5"),
        ('cpus = "many"', "not 'many'"),
        (f"cpus = {1 << 63}", "cpus is a whole number"),
        ("hostname = 5", "hostname is a text of one line"),
        ('hostname = ""', "hostname is a text of one line"),
        ('hostname = "a\\nb"', "hostname is a text of one line"),
        ('cpu_flags = "avx2"', "cpu_flags is a list of words"),
        ("cpu_flags = [1]", "cpu_flags is a list of words"),
        ("ram_bytes = 100\navailable_ram_bytes = 101", "available_ram_bytes (101) is more than ram_bytes (100)"),
        ("open_files_hard = 10", "open_files_soft (1048576) is more than open_files_hard (10)"),
        ('base = "cellar"', "unknown host 'cellar'"),
        ("base = 5", "base is the name of a host"),
        ("cpus = ", "cannot read the host file"),
        ("cpus = 1\ncpus = 2", "cannot read the host file"),
    ],
)
def test_refuses_in_one_line(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageProblem) as caught:
        host_from_toml(file)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_refuses_what_is_no_file_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"cannot read the host file .*gone\.toml"):
        host_from_toml(tmp_path / "gone.toml")
    with pytest.raises(UsageProblem, match="cannot read the host file"):
        host_from_toml(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(UsageProblem, match="cannot read the host file"):
        host_from_toml(tmp_path / "binary.toml")


@pytest.mark.parametrize("text", ["[datacentre]\ncpus = 1\n", "x = 1", "[a", "\0", '[a]\nsource = "s"\ncpus = 0'])
def test_damaged_kinds_are_gonogos_own_failure(file: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    file.write_text(text)
    monkeypatch.setattr(hosts_module, "_HOSTS_FILE", file)
    with pytest.raises(OwnProblem, match=r"host\.toml is damaged"):
        known_hosts.__wrapped__()
