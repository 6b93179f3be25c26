from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonogo.problems import OwnProblem, Problem, ReleaseProblem, UsageProblem
from gonogo.releases import Releases
from gonogo.releases import python as pythons
from gonogo.releases.python import ChildPython

from .conftest import vllm_sdist
from .package_index import PackageIndex, sdist, wheel

GET = """
import sys
from pathlib import Path
from gonogo.releases import Releases
Releases(Path(sys.argv[1])).get(*sys.argv[2:])
"""


def fetch_elsewhere(folder: Path, engine: str, version: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", GET, str(folder), engine, version]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_a_release_has_its_package_its_date_and_its_plugins(releases: Releases) -> None:
    release = releases.get("vllm", "1.0.0")
    assert files_below(release.root) == {
        "vllm/__init__.py",
        "vllm/config/model.json",
        "vllm-1.0.0.dist-info/METADATA",
        "vllm-1.0.0.dist-info/entry_points.txt",
    }
    assert release.date.isoformat() == "2026-01-05T12:00:00+00:00"
    assert release.requires_python == ">=3.8"
    (found,) = importlib.metadata.distributions(name="vllm", path=[str(release.root)])
    assert [point.name for point in found.entry_points.select(group="vllm.general_plugins")] == ["ours"]


def test_the_environment_is_that_of_the_day_without_torch(releases: Releases) -> None:
    release = releases.get("vllm", "1.0.0")
    assert (release.environment / "tinydep" / "__init__.py").read_text() == "version = '1.0'\n"
    assert (release.environment / "tinier.py").exists()
    # neither torch nor what only torch needs; no tests, no stubs
    assert not any(path.name.startswith(("torch", "sympy")) for path in release.environment.iterdir())
    assert not (release.environment / "tinydep" / "tests").exists()
    assert not (release.environment / "tinydep" / "it.pyi").exists()
    # but it is known which torch it would be
    assert release.versions == {"vllm": "1.0.0", "tinydep": "1.0", "tinier": "3.0", "torch": "2.14.0", "sympy": "1.13"}


def test_a_later_release_gets_later_packages_and_shares_what_is_the_same(releases: Releases) -> None:
    first, second = releases.get("vllm", "1.0.0"), releases.get("vllm", "1.1.0")
    assert (second.environment / "tinydep" / "__init__.py").read_text() == "version = '1.5'\n"
    assert first.identity != second.identity
    assert (first.environment / "tinier.py").samefile(second.environment / "tinier.py")


def test_bytecode_is_shared_too(releases: Releases) -> None:
    first = releases.get("vllm", "1.0.0")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(first.environment / "tinier.py")], check=True)
    second = releases.get("vllm", "1.1.0")
    (compiled,) = (second.environment / "__pycache__").glob("tinier.*.pyc")
    assert compiled.samefile(first.environment / "__pycache__" / compiled.name)


def test_a_wheel_is_taken_for_sglang_and_what_is_compiled_is_only_named(
    releases: Releases, index: PackageIndex
) -> None:
    release = releases.get("sglang", "0.5.0")
    assert (release.root / "sglang" / "fast.cpython-311-x86_64-linux-gnu.so").stat().st_size == 0
    assert (release.root / "sglang-0.5.0.dist-info" / "METADATA").exists()
    assert index.asked["sglang-0.5.0-cp311-cp311-manylinux_2_34_x86_64.whl"] == 1
    assert index.asked["sglang-0.5.0-cp311-cp311-manylinux_2_34_aarch64.whl"] == 0


def test_setup_py_is_not_run(releases: Releases) -> None:
    releases.get("vllm", "1.0.0")  # it would end this process


def test_what_is_cached_needs_neither_network_nor_uv(
    releases: Releases, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = releases.get("vllm", "1.0.0")
    index.go_down()

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", fail)
    again = Releases(tmp_path / "cache")
    assert again.get("vllm", "v1.0.0") == release
    assert again.notes == []


def test_a_cached_release_loads_nothing_heavy(releases: Releases, tmp_path: Path) -> None:
    releases.get("vllm", "1.0.0")
    code = f"{GET}\nprint(sorted({{'requests', 'pypi_simple', 'uv', 'filelock', 'tarfile'}} & set(sys.modules)))"
    command = [sys.executable, "-c", code, str(tmp_path / "cache"), "vllm", "1.0.0"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("spelt", ["1.0.0", "v1.0.0", "1.0.0+cu129", "1.0"])
def test_spellings_of_a_version(releases: Releases, spelt: str, tmp_path: Path) -> None:
    assert releases.get("vllm", spelt).version == "1.0.0"
    assert Releases(tmp_path / "cache").get("vllm", spelt).version == "1.0.0"
    assert len(releases.cached()) == 1


def test_newest_is_neither_a_prerelease_nor_yanked(releases: Releases, index: PackageIndex) -> None:
    index.add("vllm", "vllm-1.1.5.tar.gz", vllm_sdist("1.1.5"), yanked=True)
    assert releases.newest("vllm") == "1.1.0"
    flags = {info.version: (info.prerelease, info.yanked) for info in releases.known("vllm")}
    assert flags == {
        "1.2.0rc1": (True, False),
        "1.1.5": (False, True),
        "1.1.0": (False, False),
        "1.0.0": (False, False),
    }


def test_a_yanked_release_can_be_had_by_name_and_is_said_to_be_one(releases: Releases, index: PackageIndex) -> None:
    index.add("vllm", "vllm-1.1.5.tar.gz", vllm_sdist("1.1.5"), yanked=True)
    assert releases.get("vllm", "1.1.5").version == "1.1.5"
    assert releases.notes == ["vllm 1.1.5 was withdrawn (yanked) by its makers"]


def test_an_unknown_version_names_close_ones(releases: Releases) -> None:
    with pytest.raises(UsageProblem, match=r"no release vllm 1\.1\.9; there are 1\.1\.0 ") as caught:
        releases.get("vllm", "1.1.9")
    assert caught.value.exit_code == 2


def test_a_release_newer_than_the_remembered_listing_is_found(
    releases: Releases, index: PackageIndex, tmp_path: Path
) -> None:
    releases.known("vllm")
    index.add("vllm", "vllm-1.3.0.tar.gz", vllm_sdist("1.3.0"))
    assert Releases(tmp_path / "cache").get("vllm", "1.3.0").version == "1.3.0"


class TestPython:
    def test_none_that_fits(self, releases: Releases, index: PackageIndex) -> None:
        index.add("vllm", "vllm-1.3.0.tar.gz", vllm_sdist("1.3.0", python=">=3.99"), python=">=3.99")
        with pytest.raises(UsageProblem, match=r"vllm 1\.3\.0 needs Python >=3\.99; this is Python 3\.\d+\.\d+ "):
            releases.get("vllm", "1.3.0")
        assert index.asked["vllm-1.3.0.tar.gz"] == 0  # said before anything is downloaded

    def test_none_that_fits_where_only_the_archive_tells(self, releases: Releases, index: PackageIndex) -> None:
        index.add("vllm", "vllm-1.3.0.tar.gz", vllm_sdist("1.3.0", python=">=3.99"), python="")
        with pytest.raises(UsageProblem, match=r"needs Python >=3\.99"):
            releases.get("vllm", "1.3.0")

    def test_another_one_of_this_machine(
        self, releases: Releases, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """This process is pretended to run on a Python that is too old; the real one is the other."""
        version = ".".join(map(str, sys.version_info[:2]))
        index.add("vllm", "vllm-1.3.0.tar.gz", vllm_sdist("1.3.0", python=f"=={version}.*"))
        monkeypatch.setattr(pythons, "running", lambda: ChildPython(Path("/nowhere/python"), "3.1.4"))
        monkeypatch.setattr("gonogo.releases.release.running", pythons.running)
        release = releases.get("vllm", "1.3.0")
        asked = [str(release.python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == version

    def test_never_the_one_in_the_working_folder(
        self, releases: Releases, index: PackageIndex, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """It may be a checkout of anybody's, and uv runs what it finds."""
        folder = tmp_path / "checkout"
        (folder / ".venv" / "bin").mkdir(parents=True)
        (folder / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.1\n")
        python = folder / ".venv" / "bin" / "python"
        python.write_text(f'#!/bin/sh\ntouch {folder}/ran\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        monkeypatch.chdir(folder)
        monkeypatch.setattr(pythons, "running", lambda: ChildPython(Path("/nowhere/python"), "3.1.4"))
        pythons.python_for(">=3.11", "vllm 1.0.0")
        assert not (folder / "ran").exists()


class TestTrouble:
    def test_an_archive_that_is_not_what_the_index_promised(
        self, releases: Releases, index: PackageIndex, tmp_path: Path
    ) -> None:
        index.projects["vllm"][0].sha256 = "0" * 64
        with pytest.raises(OwnProblem, match=r"vllm-1\.0\.0\.tar\.gz is not what the package index promised") as caught:
            releases.get("vllm", "1.0.0")
        assert caught.value.exit_code == 4
        assert not (tmp_path / "cache" / "releases").exists()
        assert files_below(tmp_path / "cache" / "partial") == set()

    def test_an_archive_that_cannot_be_checked(self, releases: Releases, index: PackageIndex) -> None:
        index.projects["vllm"][0].digests = False
        with pytest.raises(OwnProblem, match="gives no sha256"):
            releases.get("vllm", "1.0.0")

    def test_an_archive_that_is_broken(self, releases: Releases, index: PackageIndex) -> None:
        entry = index.projects["vllm"][0]
        entry.content = entry.content[:-40]
        with pytest.raises(OwnProblem, match="cannot be unpacked"):
            releases.get("vllm", "1.0.0")

    def test_something_that_is_no_release_of_the_engine(self, releases: Releases, index: PackageIndex) -> None:
        index.add("vllm", "vllm-1.3.0.tar.gz", sdist("vllm", "1.3.0", {"other/__init__.py": b""}))
        with pytest.raises(OwnProblem, match="holds no package vllm"):
            releases.get("vllm", "1.3.0")

    def test_requirements_that_cannot_be_met(self, releases: Releases, index: PackageIndex) -> None:
        index.add("vllm", "vllm-1.3.0.tar.gz", vllm_sdist("1.3.0", ("tinydep>=99",)))
        with pytest.raises(ReleaseProblem, match="cannot get the packages that vllm needs") as caught:
            releases.get("vllm", "1.3.0")
        assert "\n" not in str(caught.value)

    def test_a_left_out_package_that_has_no_wheel_does_not_matter(
        self, releases: Releases, index: PackageIndex
    ) -> None:
        index.add(
            "vllm", "vllm-1.3.0.tar.gz", vllm_sdist("1.3.0", ("tinydep", "torch==2.14.0", "flashinfer-python==0.9"))
        )
        release = releases.get("vllm", "1.3.0")
        assert release.versions["flashinfer-python"] == "0.9"
        assert release.versions["torch"] == "2.14.0"
        assert (release.environment / "tinydep").is_dir()

    def test_an_index_that_tells_no_upload_times(self, releases: Releases, index: PackageIndex) -> None:
        for entries in index.projects.values():
            for entry in entries:
                entry.uploaded = None
        release = releases.get("vllm", "1.0.0")
        assert release.date.timestamp() == 1_750_000_000  # of the files in the archive
        assert release.versions["tinydep"] == "2.0"
        assert any("does not tell when files were uploaded" in note for note in releases.notes)

    @pytest.mark.parametrize("status", [403, 500, 503])
    def test_an_index_that_answers_with_an_error(self, releases: Releases, index: PackageIndex, status: int) -> None:
        index.status = status
        with pytest.raises(OwnProblem, match=rf"cannot reach the package index .* status {status}"):
            releases.get("vllm", "1.0.0")

    def test_an_index_that_has_no_such_project(self, releases: Releases, index: PackageIndex) -> None:
        del index.projects["sglang"]
        with pytest.raises(OwnProblem, match="has no sglang"):
            releases.newest("sglang")

    def test_an_index_that_is_something_else(self, releases: Releases, index: PackageIndex) -> None:
        index._page = lambda project: {"message": "login first"}  # type: ignore[method-assign]
        with pytest.raises(OwnProblem, match="answers in no form that gonogo reads"):
            releases.newest("vllm")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_cache_that_cannot_be_written(self, index: PackageIndex, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        with pytest.raises(OwnProblem, match="cannot write"):
            Releases(tmp_path / "cache").get("vllm", "1.0.0")

    def test_a_cache_that_is_a_file(self, index: PackageIndex, tmp_path: Path) -> None:
        (tmp_path / "cache").write_text("")
        with pytest.raises(OwnProblem, match="set GONOGO_CACHE to a folder that can be written"):
            Releases(tmp_path / "cache").get("vllm", "1.0.0")


class TestOffline:
    def test_nothing_cached(self, releases: Releases, index: PackageIndex) -> None:
        index.go_down()
        for ask in (
            lambda: releases.newest("vllm"),
            lambda: releases.get("vllm", "1.0.0"),
            lambda: releases.known("vllm"),
        ):
            with pytest.raises(OwnProblem, match=r"cannot reach the package index .*Connection refused"):
                ask()

    def test_the_listing_of_this_hour_serves(self, releases: Releases, index: PackageIndex, tmp_path: Path) -> None:
        releases.known("vllm")
        index.go_down()
        again = Releases(tmp_path / "cache")
        assert again.newest("vllm") == "1.1.0"
        assert again.notes == []

    def test_an_old_listing_is_asked_for_again(self, releases: Releases, index: PackageIndex, tmp_path: Path) -> None:
        releases.known("vllm")
        self.age(tmp_path / "cache")
        index.add("vllm", "vllm-1.3.0.tar.gz", vllm_sdist("1.3.0"))
        assert Releases(tmp_path / "cache").newest("vllm") == "1.3.0"

    def test_an_old_listing_serves_and_is_said_to_be_old(
        self, releases: Releases, index: PackageIndex, tmp_path: Path
    ) -> None:
        releases.known("vllm")
        self.age(tmp_path / "cache")
        index.go_down()
        again = Releases(tmp_path / "cache")
        assert [info.version for info in again.known("vllm")] == ["1.2.0rc1", "1.1.0", "1.0.0"]
        assert len(again.notes) == 1
        assert "using its listing of" in again.notes[0]

    def test_newest_is_then_the_newest_that_is_here(
        self, releases: Releases, index: PackageIndex, tmp_path: Path
    ) -> None:
        releases.get("vllm", "1.0.0")
        self.age(tmp_path / "cache")
        index.go_down()
        again = Releases(tmp_path / "cache")
        assert again.newest("vllm") == "1.0.0"
        assert again.notes[0].startswith("vllm 1.0.0 is the newest in the cache: cannot reach the package index")
        assert again.get("vllm", "1.0.0").version == "1.0.0"

    def test_without_any_listing_too(self, releases: Releases, index: PackageIndex, tmp_path: Path) -> None:
        releases.get("vllm", "1.0.0")
        shutil.rmtree(tmp_path / "cache" / "listings")
        index.go_down()
        assert Releases(tmp_path / "cache").newest("vllm") == "1.0.0"

    def test_an_environment_of_another_gonogo_serves_until_the_index_is_back(
        self, releases: Releases, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        release = releases.get("vllm", "1.0.0")
        monkeypatch.setattr("gonogo.releases.release._rules", lambda _: "other")
        index.status = 503
        again = Releases(tmp_path / "cache")
        assert again.get("vllm", "1.0.0") == release
        assert "older environment" in again.notes[0]
        index.status = None
        again = Releases(tmp_path / "cache")
        assert again.get("vllm", "1.0.0") == release
        assert again.notes == []

    def test_the_index_goes_between_archive_and_packages(self, releases: Releases, index: PackageIndex) -> None:
        releases.known("vllm")
        gate = index.hold("vllm-1.0.0.tar.gz")
        del index.projects["tinydep"]
        gate.open.set()
        with pytest.raises(OwnProblem, match="packages that vllm needs"):
            releases.get("vllm", "1.0.0")
        assert index.asked["vllm-1.0.0.tar.gz"] == 1

    @staticmethod
    def age(folder: Path) -> None:
        for path in (folder / "listings").iterdir():
            record = json.loads(path.read_text())
            path.write_text(json.dumps(record | {"asked": record["asked"] - 7200}))


class TestDamage:
    """Whatever is damaged in the cache is made anew."""

    @pytest.mark.parametrize("content", [b"{", b"null", b'{"layout": 1}', b"\xff\xfe"])
    @pytest.mark.parametrize(
        "which",
        ["listings/*.json", "releases/*/record.json", "releases/*/environment-*.json", "environments/*/record.json"],
    )
    def test_a_record(
        self, releases: Releases, index: PackageIndex, tmp_path: Path, which: str, content: bytes
    ) -> None:
        release = releases.get("vllm", "1.0.0")
        (record,) = (tmp_path / "cache").glob(which)
        record.write_bytes(content)
        again = Releases(tmp_path / "cache")
        assert again.newest("vllm") == "1.1.0"
        assert again.get("vllm", "1.0.0") == release
        assert (release.environment / "tinydep" / "__init__.py").exists()

    @pytest.mark.parametrize(
        "which", ["releases/*/tree", "environments/*/site", "environments/*", "releases/*", "locks", "partial"]
    )
    def test_a_folder_that_is_gone(self, releases: Releases, tmp_path: Path, which: str) -> None:
        release = releases.get("vllm", "1.0.0")
        (folder,) = (tmp_path / "cache").glob(which)
        shutil.rmtree(folder)
        assert Releases(tmp_path / "cache").get("vllm", "1.0.0") == release
        assert (release.root / "vllm" / "__init__.py").exists()
        assert (release.environment / "tinydep" / "__init__.py").exists()


class TestTogether:
    def test_killed_while_downloading(self, releases: Releases, index: PackageIndex, tmp_path: Path) -> None:
        self.kill_at(index, "vllm-1.0.0.tar.gz", tmp_path)
        assert not (tmp_path / "cache" / "releases").exists()
        assert releases.get("vllm", "1.0.0").version == "1.0.0"
        assert files_below(tmp_path / "cache" / "partial") == set()

    def test_killed_while_the_environment_is_made(
        self, releases: Releases, index: PackageIndex, tmp_path: Path
    ) -> None:
        self.kill_at(index, "tinydep-1.0-py3-none-any.whl", tmp_path)
        assert not (tmp_path / "cache" / "environments").exists()
        assert (releases.get("vllm", "1.0.0").environment / "tinydep").is_dir()
        assert index.asked["vllm-1.0.0.tar.gz"] == 1  # what was finished is kept

    @staticmethod
    def kill_at(index: PackageIndex, filename: str, tmp_path: Path) -> None:
        gate = index.hold(filename)
        process = fetch_elsewhere(tmp_path / "cache", "vllm", "1.0.0")
        assert gate.reached.wait(60)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        gate.open.set()

    def test_two_processes_do_the_work_once(self, index: PackageIndex, tmp_path: Path) -> None:
        gate = index.hold("vllm-1.0.0.tar.gz")
        processes = [fetch_elsewhere(tmp_path / "cache", "vllm", "1.0.0")]
        assert gate.reached.wait(60)
        processes.append(fetch_elsewhere(tmp_path / "cache", "vllm", "1.0.0"))
        time.sleep(0.5)  # let it come to the lock; the outcome must not depend on whether it did
        gate.open.set()
        for process in processes:
            _, said = process.communicate(timeout=120)
            assert process.returncode == 0, said
        assert index.asked["vllm-1.0.0.tar.gz"] == 1
        assert index.asked["tinydep-1.0-py3-none-any.whl"] <= 2  # uv reads the metadata of a wheel, then the wheel

    def test_the_disk_is_full_while_downloading(self, index: PackageIndex, small_disk: Path) -> None:
        self.fill(index, small_disk, {"vllm/noise.bin": os.urandom(3 << 20)}, {})

    def test_the_disk_is_full_while_unpacking(self, index: PackageIndex, small_disk: Path) -> None:
        self.fill(index, small_disk, {"vllm/zeros.bin": bytes(3 << 20)}, {})

    def test_the_disk_is_full_while_the_environment_is_made(self, index: PackageIndex, small_disk: Path) -> None:
        self.fill(index, small_disk, {}, {"bigdep.bin": os.urandom(3 << 20)})

    @staticmethod
    def fill(index: PackageIndex, disk: Path, files: dict[str, bytes], packages: dict[str, bytes]) -> None:
        content = sdist("vllm", "1.3.0", {"vllm/__init__.py": b"", **files}, requires=("bigdep",))
        index.add("vllm", "vllm-1.3.0.tar.gz", content)
        index.add("bigdep", "bigdep-1.0-py3-none-any.whl", wheel("bigdep", "1.0", packages))
        with pytest.raises(OwnProblem, match=r"^no space left for .*: free some, or set GONOGO_CACHE"):
            Releases(disk).get("vllm", "1.3.0")
        assert files_below(disk / "partial") == set()


@pytest.fixture
def small_disk(tmp_path: Path):  # type: ignore[no-untyped-def]
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("cannot mount a small disk here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_no_space_left_is_said_where_no_disk_can_be_filled(
    releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OwnProblem, match=r"^no space left for vllm 1\.0\.0 in the cache"):
        releases.get("vllm", "1.0.0")
    assert files_below(tmp_path / "cache" / "partial") == set()


class TestCache:
    def test_what_is_cached_is_listed_with_sizes(self, releases: Releases) -> None:
        assert releases.cached() == []
        releases.get("vllm", "1.0.0")
        (alone,) = releases.cached()
        assert (alone.engine, alone.version, alone.date.year) == ("vllm", "1.0.0", 2026)
        assert alone.size == alone.own > 0
        releases.get("vllm", "1.1.0")
        first, second = releases.cached()
        assert first.size == alone.size
        assert first.own < first.size  # tinier is shared now
        assert second.version == "1.1.0"

    def test_removing_takes_the_environment_along_unless_it_is_used(
        self, releases: Releases, index: PackageIndex
    ) -> None:
        index.add("vllm", "vllm-1.0.1.tar.gz", vllm_sdist("1.0.1", ("tinydep>=1", "torch==2.14.0")))
        first, second = releases.get("vllm", "1.0.0"), releases.get("vllm", "1.0.1")
        assert first.environment == second.environment
        releases.remove("vllm", "1.0.0")
        assert not first.root.exists()
        assert releases.get("vllm", "1.0.1") == second
        releases.remove("vllm", "1.0.1")
        assert not second.environment.exists()
        assert releases.cached() == []

    def test_removing_what_is_not_there(self, releases: Releases) -> None:
        releases.get("vllm", "1.0.0")
        with pytest.raises(UsageProblem, match=r"vllm 9\.9 is not in the cache, which holds vllm 1\.0\.0"):
            releases.remove("vllm", "9.9")


class TestParse:
    def test_specs(self, tmp_path: Path) -> None:
        releases = Releases(tmp_path)
        assert releases.parse("vllm==0.33.0") == ("vllm", "0.33.0")
        assert releases.parse("vllm == v0.33.0") == ("vllm", "0.33.0")
        assert releases.parse("sglang") == ("sglang", None)

    @pytest.mark.parametrize(
        "spec",
        [
            "",
            "==",
            "vllm==",
            "==1.0",
            "vllm=0.33.0",
            "vllm>=0.33.0",
            "trt-llm==1.0",
            "vllm==newest",
            "vllm==1.0/../..",
            "\0",
        ],
    )
    def test_what_is_none(self, tmp_path: Path, spec: str) -> None:
        with pytest.raises(UsageProblem):
            Releases(tmp_path).parse(spec)

    @settings(deadline=None)
    @given(st.text() | st.builds("vllm=={}".format, st.text()))
    def test_anything_is_a_release_or_a_short_problem(self, spec: str) -> None:
        said = ""
        try:
            engine, version = Releases(Path("nowhere")).parse(spec)
        except Problem as problem:
            said = str(problem)
        else:
            assert engine in ("vllm", "sglang")
            assert version is None or "/" not in version
        assert len(said) < 500

    def test_a_very_long_one(self, tmp_path: Path) -> None:
        for spec in ("x" * 1_000_000, "vllm==" + "1." * 500_000):
            with pytest.raises(UsageProblem) as caught:
                Releases(tmp_path).parse(spec)
            assert len(str(caught.value)) < 500
