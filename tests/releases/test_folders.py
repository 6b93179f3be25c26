"""Releases out of folders: checkouts, unpacked archives, environments."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import os
import shutil
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from gonogo.problems import OwnProblem, UsageProblem
from gonogo.releases import Build, Release, Releases
from gonogo.releases.cached import MARK

from .package_index import PackageIndex, sdist, wheel
from .test_git import git

PYPROJECT = """
[project]
name = "vllm"
requires-python = ">=3.8"
dynamic = ["version", "dependencies"]
[project.scripts]
vllm = "vllm.cli:main"
"""
SOURCE = {
    "vllm/__init__.py": "from .version import __version__\n",
    "vllm/version.py": "from ._version import __version__\n",
    "vllm/cli.py": "def main(): ...\n",
    "vllm/config/model.json": "{}",
    "pyproject.toml": PYPROJECT,
    "setup.py": "raise SystemExit('setup.py was run')\n",
    "requirements/cuda.txt": "-r common.txt\ntorch==2.14.0\n",
    "requirements/common.txt": "tinydep\n",
    "tests/test_it.py": "",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of vllm one commit after v1.1.0, as of 2026-02-03."""
    folder = write(tmp_path / "work" / "vllm", SOURCE)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "v1.1.0")
    git(folder, "commit", "-qm", "two", "--allow-empty")
    return folder


def take(releases: Releases, folder: Path, engine: str = "vllm") -> Release:
    return releases.get(engine, releases.take(engine, folder))


def settle(folder: Path) -> None:
    """Let the files of a folder be old enough to be remembered by their times."""
    while time.time() - max(path.stat().st_ctime for path in folder.rglob("*")) < 2.1:
        time.sleep(0.1)


class TestCheckout:
    def test_what_it_is(self, releases: Releases, checkout: Path) -> None:
        release = take(releases, checkout)
        sha = git(checkout, "rev-parse", "HEAD")
        assert release.version == f"1.1.1.dev1+g{sha[:9]}"
        assert release.date.isoformat() == "2026-02-03T04:05:06+00:00"
        assert release.requires_python == ">=3.8"
        assert not release.published
        (found,) = importlib.metadata.distributions(name="vllm", path=[str(release.root)])
        assert found.version == release.version
        assert [(point.name, point.value) for point in found.entry_points] == [("vllm", "vllm.cli:main")]

    def test_its_files(self, releases: Releases, checkout: Path, tmp_path: Path) -> None:
        (checkout / "vllm" / "way").symlink_to("/etc/passwd")
        (checkout / "vllm" / "folder").symlink_to("/etc")
        os.mkfifo(checkout / "vllm" / "pipe")
        write(checkout, {"vllm/__pycache__/cli.cpython-311.pyc": "", "vllm/_C.abi3.so": "\x7fELF"})
        release = take(releases, checkout)
        there = {path.relative_to(release.root).as_posix() for path in release.root.rglob("*") if path.is_file()}
        information = f"vllm-{release.version}.dist-info"
        assert there == {name for name in SOURCE if name.startswith("vllm/")} | {
            *("vllm/_C.abi3.so", "vllm/_version.py"),
            *(f"{information}/METADATA", f"{information}/entry_points.txt"),
        }
        assert (release.root / "vllm" / "_C.abi3.so").read_bytes() == b""
        assert release.build == Build("nvidia", ("vllm._C",), ("vllm/_C.abi3.so",))

    def test_its_packages_are_those_of_its_day(self, releases: Releases, checkout: Path) -> None:
        release = take(releases, checkout)
        assert release.versions["tinydep"] == "1.5"  # of 2026-02-01; 2.0 came in June
        assert release.versions["torch"] == "2.14.0"
        assert (release.environment / "tinydep").is_dir()

    def test_nothing_of_it_is_run(self, releases: Releases, checkout: Path) -> None:
        take(releases, checkout)  # its setup.py would end this process

    def test_as_it_was_published(self, releases: Releases, checkout: Path) -> None:
        git(checkout, "checkout", "-q", "v1.1.0")
        release = take(releases, checkout)
        assert (release.version, release.published) == ("1.1.0", True)
        (checkout / "vllm" / "cli.py").write_text("def main(): print(1)\n")
        changed = take(releases, checkout)
        assert (changed.version, changed.published) == ("1.1.0", False)
        (checkout / "vllm" / "cli.py").unlink()
        assert not take(releases, checkout).published

    def test_a_change_is_noticed_and_the_rest_is_shared(self, releases: Releases, checkout: Path) -> None:
        settle(checkout)
        first = take(releases, checkout)
        assert take(releases, checkout) == first
        (checkout / "vllm" / "cli.py").write_text("def main(): raise SystemExit\n")
        second = take(releases, checkout)
        assert second.identity != first.identity
        assert (second.root / "vllm" / "cli.py").read_text() == "def main(): raise SystemExit\n"
        assert (first.root / "vllm" / "cli.py").read_text() == SOURCE["vllm/cli.py"]
        assert (second.root / "vllm" / "version.py").samefile(first.root / "vllm" / "version.py")

    def test_a_change_of_the_same_size_in_the_same_moment_is_noticed(self, releases: Releases, checkout: Path) -> None:
        for number in range(5):
            (checkout / "vllm" / "cli.py").write_text(f"number = {number}\n")
            assert (take(releases, checkout).root / "vllm" / "cli.py").read_text() == f"number = {number}\n"

    def test_requirements_that_change_are_noticed(self, releases: Releases, checkout: Path) -> None:
        settle(checkout)
        take(releases, checkout)
        (checkout / "requirements" / "common.txt").write_text("tinydep==1.0\n")
        assert take(releases, checkout).versions["tinydep"] == "1.0"

    def test_a_commit_that_changes_nothing_else_is_noticed(self, releases: Releases, checkout: Path) -> None:
        settle(checkout)
        first = take(releases, checkout)
        git(checkout, "commit", "-qm", "three", "--allow-empty")
        assert take(releases, checkout).version.startswith("1.1.1.dev2+g")
        assert first.version.startswith("1.1.1.dev1+g")

    def test_an_unchanged_one_is_not_read_again(
        self, releases: Releases, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settle(checkout)
        key = releases.take("vllm", checkout)

        def fail(*_: object) -> None:
            raise AssertionError("it is copied")

        monkeypatch.setattr("gonogo.releases.copies._copied", fail)
        assert releases.take("vllm", checkout) == key

    def test_many_edits_do_not_fill_the_cache(self, releases: Releases, checkout: Path, tmp_path: Path) -> None:
        """The last three stay, and those that were used within the hour."""
        places = []
        for number in range(6):
            (checkout / "vllm" / "cli.py").write_text(f"number = {number}\n")
            release = take(releases, checkout)
            places.append(release.root.parent)
            for age, place in enumerate(reversed(places)):  # an hour and more between two of them
                if place.exists():
                    os.utime(place / "record.json", (time.time() - 4000 * age, time.time() - 4000 * age))
        assert [place.exists() for place in places] == [False, False, False, True, True, True]

    def test_copies_of_a_folder_that_is_gone_go_too(self, releases: Releases, checkout: Path, tmp_path: Path) -> None:
        gone = take(releases, checkout).root.parent
        other = tmp_path / "elsewhere"
        checkout.rename(other)
        (other / "vllm" / "cli.py").write_text("cli = 1\n")
        take(releases, other)
        assert gone.exists()  # somebody may still be at it
        os.utime(gone / "record.json", (0, time.time() - 4000))
        (other / "vllm" / "cli.py").write_text("cli = 2\n")
        take(releases, other)
        assert not gone.exists()

    def test_without_git_its_date_is_that_of_its_files(self, releases: Releases, checkout: Path) -> None:
        shutil.rmtree(checkout / ".git")
        for path in checkout.rglob("*"):
            os.utime(path, (1_767_600_000, 1_767_600_000))  # 2026-01-05 08:00 UTC
        release = take(releases, checkout)
        assert release.version == "0+unknown"
        assert release.date.isoformat() == "2026-01-05T08:00:00+00:00"
        assert release.versions["tinydep"] == "1.0"

    def test_a_package_in_a_folder_below(self, releases: Releases, tmp_path: Path) -> None:
        files = {
            "python/sglang/__init__.py": "",
            "python/sglang/version.py": "__version__ = '0.5.1'\n",
            "python/pyproject.toml": '[project]\nname = "sglang"\ndependencies = ["tinydep"]\n',
        }
        folder = write(tmp_path / "sglang", files)
        for place in (folder, folder / "python"):
            release = take(releases, place, "sglang")
            assert release.version == "0.5.1"
            assert (release.root / "sglang" / "version.py").exists()
            assert "tinydep" in release.versions


class TestBuildOfTheNearestRelease:
    @pytest.fixture(autouse=True)
    def published(self, index: PackageIndex) -> None:
        """The wheel of 1.1.0 has a compiled module and a Python one that its sdist lacks, and a file that has gone since."""
        own = {"vllm/_C.abi3.so": b"\x7fELF", "vllm/third_party/rotary.py": b"rotary = 1\n", "vllm/old.py": b""}
        content = wheel("vllm", "1.1.0", {"vllm/__init__.py": b"", "vllm/config/model.json": b"{}", **own})
        day = "2026-02-05T12:00:00Z"
        index.add("vllm", "vllm-1.1.0-cp38-abi3-manylinux1_x86_64.whl", content, uploaded=day)
        index.projects["vllm"] = [one for one in index.projects["vllm"] if one.filename != "vllm-1.1.0.tar.gz"]
        files = {"vllm/__init__.py": b"", "vllm/config/model.json": b"{}", "vllm/old.py": b""}
        index.add("vllm", "vllm-1.1.0.tar.gz", sdist("vllm", "1.1.0", files, requires=("tinydep",)), uploaded=day)

    def test_it_stands_in(self, releases: Releases, checkout: Path) -> None:
        release = take(releases, checkout)
        assert (release.root / "vllm" / "third_party" / "rotary.py").read_bytes() == b"rotary = 1\n"
        assert not (release.root / "vllm" / "old.py").exists()
        assert release.build == Build("nvidia", ("vllm._C",), ("vllm/_C.abi3.so", "vllm/third_party"))
        assert releases.notes == [f"vllm {release.version}: what only a build has is taken from that of 1.1.0"]

    def test_what_any_build_makes_is_in_the_sdist_and_ignored_by_git(
        self, releases: Releases, index: PackageIndex, checkout: Path
    ) -> None:
        (entry,) = [one for one in index.projects["vllm"] if one.filename == "vllm-1.1.0.tar.gz"]
        made = {"vllm/__init__.py": b"", "vllm/made/a.py": b"a = 1\n", "vllm/_version.py": b"stale", "vllm/old.py": b""}
        entry.content = sdist("vllm", "1.1.0", made, requires=("tinydep",))
        (checkout / ".gitignore").write_text("vllm/made/*\nvllm/_version.py\n*.so\n")
        release = take(releases, checkout)
        assert (release.root / "vllm" / "made" / "a.py").read_bytes() == b"a = 1\n"
        assert not (release.root / "vllm" / "old.py").exists()  # it has gone since
        assert release.version in (release.root / "vllm" / "_version.py").read_text()
        assert release.build == Build("nvidia", ("vllm._C",), ("vllm/_C.abi3.so", "vllm/third_party"))

    def test_of_the_same_release_nothing_is_to_be_said(self, releases: Releases, checkout: Path) -> None:
        git(checkout, "checkout", "-q", "v1.1.0")
        assert take(releases, checkout).build is not None
        assert releases.notes == []

    def test_a_checkout_without_tags_goes_by_its_day(self, releases: Releases, checkout: Path) -> None:
        git(checkout, "tag", "-d", "v1.1.0")
        release = take(releases, checkout)
        assert release.version.startswith("0.1.dev0+g")
        assert release.build is None  # on 2026-02-03 there was 1.0.0 only, and it has no wheel
        assert releases.notes == [f"vllm {release.version}: it has no build, and nor has 1.0.0"]

    def test_without_network_it_is_missing_and_said(
        self, releases: Releases, index: PackageIndex, checkout: Path, tmp_path: Path
    ) -> None:
        index.go_down()
        key = releases.take("vllm", checkout)
        assert (tmp_path / "cache" / "releases" / f"vllm-{key}" / "tree" / "vllm").is_dir()
        with pytest.raises(OwnProblem, match="cannot reach the package index"):
            releases.get("vllm", key)

    def test_one_that_is_built_in_place_is_its_own(self, releases: Releases, checkout: Path) -> None:
        write(checkout, {"vllm/_new_C.abi3.so": "\x7fELF"})
        release = take(releases, checkout)
        assert release.build == Build("nvidia", ("vllm._new_C",), ("vllm/_new_C.abi3.so",))
        assert not (release.root / "vllm" / "third_party").exists()


class TestUnpackedArchives:
    def test_an_sdist(self, releases: Releases, index: PackageIndex, tmp_path: Path) -> None:
        (entry,) = [one for one in index.projects["vllm"] if "1.0.0" in one.filename]
        with tarfile.open(fileobj=io.BytesIO(entry.content)) as tar:
            tar.extractall(tmp_path, filter="data")
        release = take(releases, tmp_path / "vllm-1.0.0")
        of_index = releases.get("vllm", "1.0.0")
        assert (release.version, release.date, release.versions) == ("1.0.0", of_index.date, of_index.versions)
        assert {path.relative_to(release.root) for path in release.root.rglob("*")} == {
            path.relative_to(of_index.root) for path in of_index.root.rglob("*")
        }
        assert not release.published  # nobody can tell

    def test_a_wheel(self, releases: Releases, tmp_path: Path) -> None:
        content = wheel(
            "sglang", "0.5.0", {"sglang/__init__.py": b"", "sglang/a.py": b"a = 1\n"}, requires=("tinydep",)
        )
        zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path / "unpacked")
        release = take(releases, tmp_path / "unpacked", "sglang")
        assert (release.version, release.published, release.installed) == ("0.5.0", True, None)
        assert release.versions["tinydep"] == "1.0"  # of the day on which the index got it


class TestWhatIsNone:
    def test_no_folder(self, releases: Releases) -> None:
        with pytest.raises(UsageProblem, match="there is no folder /nowhere"):
            releases.take("vllm", Path("/nowhere"))

    @pytest.mark.parametrize("name", ["x/" + "y" * 300, "x/a\0b"])
    def test_no_name_of_a_folder(self, releases: Releases, name: str) -> None:
        assert releases.is_folder(name)
        with pytest.raises(UsageProblem, match=r"is no folder|there is no folder"):
            releases.take("vllm", Path(name))

    @pytest.mark.parametrize("name", ["y" * 300, "a\0b"])
    def test_no_name_at_all(self, releases: Releases, name: str) -> None:
        assert not releases.is_folder(name)

    def test_metadata_without_a_version(self, releases: Releases, tmp_path: Path) -> None:
        write(tmp_path, {"vllm/__init__.py": "", "PKG-INFO": "Name: vllm\nVersion: ../../evil\n"})
        with pytest.raises(OwnProblem, match=r"PKG-INFO names no version but '\.\./\.\./evil'"):
            releases.take("vllm", tmp_path)

    def test_an_empty_folder(self, releases: Releases, tmp_path: Path) -> None:
        with pytest.raises(UsageProblem, match="holds no vllm or sglang"):
            releases.take("vllm", tmp_path)

    def test_the_package_itself(self, releases: Releases, checkout: Path) -> None:
        with pytest.raises(UsageProblem, match="is the package vllm itself: give the folder that it stands in"):
            releases.take("vllm", checkout / "vllm")

    def test_the_other_engine(self, releases: Releases, checkout: Path) -> None:
        with pytest.raises(UsageProblem, match="holds vllm, not sglang"):
            releases.take("sglang", checkout)

    def test_a_package_that_nothing_is_told_of(self, releases: Releases, tmp_path: Path) -> None:
        write(tmp_path, {"vllm/__init__.py": ""})
        with pytest.raises(UsageProblem, match="holds no vllm"):
            releases.take("vllm", tmp_path)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
    def test_a_file_that_cannot_be_read(self, releases: Releases, checkout: Path) -> None:
        (checkout / "vllm" / "cli.py").chmod(0)
        with pytest.raises(OwnProblem, match=r"cannot read .*cli\.py"):
            releases.take("vllm", checkout)

    @pytest.mark.parametrize(
        ("spec", "is_folder"),
        [
            *(("vllm", False), ("vllm==1.0", False), ("sglang == 0.5", False), ("vlm", False)),
            *((".", True), ("./vllm", True), ("~/x", True), ("a/b", True), ("/nowhere", True)),
        ],
    )
    def test_what_a_word_names(
        self, releases: Releases, spec: str, is_folder: bool, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(checkout)  # it has a folder vllm
        assert releases.is_folder(spec) is is_folder


def test_the_same_in_another_folder_is_one_copy(releases: Releases, checkout: Path, tmp_path: Path) -> None:
    first = take(releases, checkout)
    shutil.copytree(checkout, tmp_path / "other", symlinks=True)
    assert take(releases, tmp_path / "other") == first
    assert releases.remove_folder(tmp_path / "other") == [("vllm", first.version)]


def test_they_are_listed_and_removed(releases: Releases, checkout: Path, tmp_path: Path) -> None:
    release = take(releases, checkout)
    releases.get("vllm", "1.0.0")
    rows = {row.version: row.folder for row in releases.cached()}
    assert rows == {release.version: str(checkout), "1.0.0": None, "1.1.0": None}  # the last for its build
    assert releases.newest("vllm") == "1.1.0"  # of the index
    with pytest.raises(UsageProblem, match="nothing in the cache was taken from"):
        releases.remove_folder(tmp_path / "other")
    assert releases.remove_folder(checkout) == [("vllm", release.version)]
    assert {row.version for row in releases.cached()} == {"1.0.0", "1.1.0"}
    take(releases, checkout)
    assert releases.remove("vllm", release.version) == [release.version]
    assert {row.version for row in releases.cached()} == {"1.0.0", "1.1.0"}


def install(site: Path, content: bytes, **more: str) -> Path:
    """Put a wheel into a site folder as pip does."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(site)
        (information,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
    for name, text in more.items():
        (site / information / name.replace("_json", ".json")).write_text(text)
    return site / information


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment for this Python with sglang, a tinydep that is not of its day, torch for CPUs and others."""
    series = ".".join(map(str, __import__("sys").version_info[:2]))
    site = tmp_path / "env" / "lib" / f"python{series}" / "site-packages"
    code = {"sglang/__init__.py": b"", "sglang/fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF"}
    install(site, wheel("sglang", "0.5.0", code, requires=("tinydep", "torch", "absent")))
    install(site, wheel("tinydep", "1.5", {"tinydep/__init__.py": b"", "_tiny.py": b""}, requires=("tinier",)))
    install(site, wheel("tinier", "3.0", {"tinier.py": b""}))
    install(site, wheel("torch", "2.14.0+cpu", {"torch/__init__.py": b"", "functorch/__init__.py": b""}))
    install(site, wheel("unrelated", "7.0", {"strange/__init__.py": b""}))
    return tmp_path / "env"


def site_of(environment: Path) -> Path:
    (site,) = environment.glob("lib/python*/site-packages")
    return site


class TestEnvironment:
    def test_what_stands_beside_it_is_a_fact(self, releases: Releases, environment: Path) -> None:
        release = take(releases, environment, "sglang")
        assert release.version == "0.5.0"
        assert release.published
        beside = {"tinydep": "1.5", "tinier": "3.0", "torch": "2.14.0+cpu", "unrelated": "7.0"}
        assert release.versions == {"sglang": "0.5.0", **beside}
        assert release.installed is not None
        assert release.installed.vendor == "cpu"
        imports = {name: one.imports for name, one in release.installed.beside.items()}
        assert imports["tinydep"] == ("_tiny", "tinydep")
        assert imports["torch"] == ("functorch", "torch")
        assert imports["unrelated"] == ("strange",)

    def test_its_light_environment_is_what_the_engine_needs_of_it(self, releases: Releases, environment: Path) -> None:
        release = take(releases, environment, "sglang")
        assert (release.environment / "tinydep" / "__init__.py").read_text() == "version = '1.5'\n"  # the index's
        assert (release.environment / "tinier.py").exists()
        assert not (release.environment / "torch").exists()
        assert not (release.environment / "strange").exists()
        assert releases.notes == []

    def test_a_package_that_changes_is_noticed(self, releases: Releases, environment: Path) -> None:
        settle(environment)
        take(releases, environment, "sglang")
        shutil.rmtree(site_of(environment) / "tinydep-1.5.dist-info")
        install(site_of(environment), wheel("tinydep", "1.0", {"tinydep/__init__.py": b""}))
        assert take(releases, environment, "sglang").versions["tinydep"] == "1.0"

    def test_versions_that_the_index_has_not(self, releases: Releases, environment: Path) -> None:
        site = site_of(environment)
        shutil.rmtree(site / "tinydep-1.5.dist-info")
        install(site, wheel("tinydep", "1.9.dev3", {"tinydep/__init__.py": b""}, requires=("tinier", "homemade")))
        install(site, wheel("homemade", "0.1", {"homemade.py": b""}), direct_url_json='{"url": "file:///x"}')
        release = take(releases, environment, "sglang")
        assert release.versions["tinydep"] == "1.9.dev3"
        assert (release.environment / "tinydep" / "__init__.py").read_text() == "version = '2.0'\n"
        assert sorted(releases.notes) == [
            "sglang 0.5.0: homemade 0.1 is left out: it is not on the package index",
            "sglang 0.5.0: tinydep is taken in version 2.0: the installed 1.9.dev3 is not on the package index",
        ]

    def test_an_edited_installation_is_not_as_it_was_published(self, releases: Releases, environment: Path) -> None:
        (site_of(environment) / "sglang" / "__init__.py").write_text("edited = True\n")
        assert not take(releases, environment, "sglang").published

    def test_an_editable_installation_leads_to_its_checkout(
        self, releases: Releases, environment: Path, checkout: Path
    ) -> None:
        url = f'{{"url": "file://{checkout}", "dir_info": {{"editable": true}}}}'
        install(site_of(environment), wheel("vllm", "1.1.1", {}), direct_url_json=url)
        release = take(releases, environment)
        assert (release.root / "vllm" / "cli.py").exists()
        assert release.version.startswith("1.1.1.dev1+g")
        assert release.installed is not None
        assert release.versions["unrelated"] == "7.0"

    @pytest.mark.parametrize("url", ["https://host.example/x", "file:///nowhere", "nonsense"])
    def test_an_installation_whose_code_is_elsewhere_is_none(
        self, releases: Releases, environment: Path, url: str
    ) -> None:
        told = f'{{"url": "{url}", "dir_info": {{"editable": true}}}}'
        install(site_of(environment), wheel("vllm", "1.1.1", {}), direct_url_json=told)
        with pytest.raises(UsageProblem, match="holds sglang, not vllm"):
            releases.take("vllm", environment)

    def test_for_another_python(self, releases: Releases, environment: Path) -> None:
        site = site_of(environment)
        site.parent.rename(site.parent.with_name("python3.99"))
        release = take(releases, environment, "sglang")
        assert release.requires_python == ">=3.8"
        assert releases.notes == [
            "sglang 0.5.0: it is installed for Python 3.99, which is not here: another one runs it"
        ]

    def test_the_site_folder_itself(self, releases: Releases, environment: Path) -> None:
        assert releases.take("sglang", site_of(environment)) == releases.take("sglang", environment)

    @pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
    def test_the_active_one(
        self, releases: Releases, environment: Path, monkeypatch: pytest.MonkeyPatch, variable: str
    ) -> None:
        monkeypatch.delenv("VIRTUAL_ENV", raising=False)
        monkeypatch.delenv("CONDA_PREFIX", raising=False)
        assert releases.installed("sglang") is None
        monkeypatch.setenv(variable, str(environment))
        assert releases.installed("sglang") == releases.take("sglang", environment)
        assert releases.installed("vllm") is None

    def test_the_python_that_runs_gonogo(
        self, releases: Releases, environment: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("VIRTUAL_ENV", "/nowhere")
        monkeypatch.syspath_prepend(str(site_of(environment)))
        assert releases.installed("sglang") == releases.take("sglang", environment)


def test_keys_are_no_versions_of_the_index(releases: Releases, checkout: Path) -> None:
    assert MARK in releases.take("vllm", checkout)
    with pytest.raises(UsageProblem, match="is no version"):
        releases.parse(f"vllm==1.0{MARK}0123456789abcdef")


def test_record_of_a_wheel_is_what_installers_write() -> None:
    """The hashes that tell whether an installation is as it was published, in the form of the specification."""
    with zipfile.ZipFile(io.BytesIO(wheel("any", "1", {"any/a.py": b"a = 1\n"}))) as archive:
        (row,) = [
            line for line in archive.read("any-1.dist-info/RECORD").decode().splitlines() if line.startswith("any/")
        ]
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"a = 1\n").digest()).rstrip(b"=").decode()
    assert row == f"any/a.py,sha256={digest},6"
