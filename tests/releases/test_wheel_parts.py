"""What only a wheel has, fetched in parts."""

from __future__ import annotations

import io
import os
import random
import zipfile
from pathlib import Path

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from gonogo.problems import OwnProblem
from gonogo.releases import Build, Releases
from gonogo.releases.ranges import NoRanges, RangedFile
from gonogo.releases.tree import compiled_modules, topmost

from .conftest import vllm_sdist
from .package_index import PackageIndex, sdist, wheel

HEAVY = os.urandom(3_000_000)
OF_BOTH = {"vllm/__init__.py": b"__version__ = '1.6.0'\n", "vllm/third_party/__init__.py": b""}
OF_THE_WHEEL = {
    "vllm/_C.abi3.so": HEAVY,
    "vllm/attention/layers/rotary.py": b"rotary = True\n",
    "vllm/third_party/deep/__init__.py": b"deep = True\n",
    "vllm/third_party/deep/include/deep.h": b"int deep;\n",
    "vllm/third_party/deep/_C.abi3.so": HEAVY,
    "vllm/third_party/deep/tuned.json": b"{}",
}
ENTRY_POINTS = {"vllm-1.6.0.dist-info/entry_points.txt": b"[console_scripts]\nvllm = vllm:main\n"}
NAME = "vllm-1.6.0-cp38-abi3-manylinux_2_28_x86_64.whl"


def vllm_wheel(changed: dict[str, bytes] | None = None) -> bytes:
    files = {**OF_BOTH, **OF_THE_WHEEL, **ENTRY_POINTS, **(changed or {})}
    return wheel("vllm", "1.6.0", files, requires=("tinydep",), tag="cp38-abi3-manylinux_2_28_x86_64")


def add(index: PackageIndex, *, with_sdist: bool = True, content: bytes | None = None) -> None:
    if with_sdist:
        index.add("vllm", "vllm-1.6.0.tar.gz", sdist("vllm", "1.6.0", OF_BOTH, requires=("tinydep",)))
    index.add("vllm", NAME.replace("x86_64", "aarch64"), b"not this one")
    index.add("vllm", NAME, vllm_wheel() if content is None else content)


def files_in(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "vllm").rglob("*.*")}


def test_the_source_is_made_whole_by_what_only_the_wheel_has(releases: Releases, index: PackageIndex) -> None:
    add(index)
    release = releases.get("vllm", "1.6.0")
    empty = {
        "vllm/_C.abi3.so": b"",
        "vllm/third_party/deep/_C.abi3.so": b"",
        "vllm/third_party/deep/include/deep.h": b"",
    }
    assert files_in(release.root) == {**OF_BOTH, **OF_THE_WHEEL, **empty}
    assert release.build == Build(
        "nvidia",
        compiled=("vllm._C", "vllm.third_party.deep._C"),
        only=("vllm/_C.abi3.so", "vllm/attention", "vllm/third_party/deep"),
    )
    assert index.sent[NAME] < 500_000  # of 6 MB
    assert releases.notes == []


def test_where_the_index_gives_no_parts_the_source_stays_as_it_is_and_that_is_said(
    releases: Releases, index: PackageIndex, tmp_path: Path
) -> None:
    add(index)
    index.ranges = False
    release = releases.get("vllm", "1.6.0")
    assert set(files_in(release.root)) == set(OF_BOTH)
    assert release.build is None
    told = ["vllm 1.6.0: the package index gives no parts of a wheel, so files that only the wheel has are missing"]
    assert releases.notes == told
    again = Releases(tmp_path / "cache")
    again.get("vllm", "1.6.0")
    assert again.notes == told


@pytest.mark.parametrize("ranges", [True, False])
def test_a_release_that_has_only_a_wheel(releases: Releases, index: PackageIndex, ranges: bool) -> None:
    add(index, with_sdist=False)
    index.ranges = ranges
    release = releases.get("vllm", "1.6.0")
    there = files_in(release.root)
    assert there["vllm/attention/layers/rotary.py"] == b"rotary = True\n"
    assert there["vllm/_C.abi3.so"] == b""
    assert (release.root / "vllm-1.6.0.dist-info" / "entry_points.txt").exists()
    assert release.versions["tinydep"] == "1.0"
    assert release.build == Build(
        "nvidia",
        compiled=("vllm._C", "vllm.third_party.deep._C"),
        only=("vllm/_C.abi3.so", "vllm/third_party/deep/_C.abi3.so"),
    )
    assert (index.sent[NAME] > 6_000_000) != ranges


@pytest.mark.parametrize("with_sdist", [True, False])
def test_a_file_that_is_not_what_record_says(
    releases: Releases, index: PackageIndex, with_sdist: bool, tmp_path: Path
) -> None:
    forged = {"vllm/attention/layers/rotary.py": b"rotary = 'evil'\n"}
    content = wheel("vllm", "1.6.0", {**OF_BOTH, **OF_THE_WHEEL}, requires=("tinydep",), forged=forged)
    add(index, with_sdist=with_sdist, content=content)
    with pytest.raises(OwnProblem, match=r"rotary\.py in vllm-1\.6\.0-.*whl is not what its RECORD says"):
        releases.get("vllm", "1.6.0")
    assert not (tmp_path / "cache" / "releases").exists()


def test_metadata_that_is_not_what_the_index_says(releases: Releases, index: PackageIndex) -> None:
    add(index, with_sdist=False)
    index.projects["vllm"][-1].metadata_sha256 = "0" * 64
    with pytest.raises(OwnProblem, match=r"METADATA in .* is not what"):
        releases.get("vllm", "1.6.0")


@pytest.mark.parametrize("cut", [1, 10, 1000, 3_000_000])
def test_a_wheel_that_is_cut_off(releases: Releases, index: PackageIndex, cut: int) -> None:
    add(index, content=vllm_wheel()[:cut])
    with pytest.raises(OwnProblem):
        releases.get("vllm", "1.6.0")


@pytest.mark.parametrize("name", ["vllm/../../evil.py", "/evil.py", "vllm\\evil.py"])
def test_a_wheel_that_would_write_elsewhere(releases: Releases, index: PackageIndex, name: str, tmp_path: Path) -> None:
    add(index, content=wheel("vllm", "1.6.0", {**OF_BOTH, name: b"evil"}))
    with pytest.raises(OwnProblem, match="would be written elsewhere"):
        releases.get("vllm", "1.6.0")
    assert not list(tmp_path.rglob("*evil*"))


def test_a_changed_wheel_is_another_release(releases: Releases, index: PackageIndex, tmp_path: Path) -> None:
    add(index)
    first = releases.get("vllm", "1.6.0")
    releases.remove("vllm", "1.6.0")
    changed = {"vllm/attention/layers/rotary.py": b"rotary = None\n"}  # as long as before
    index.projects["vllm"][-1].content = vllm_wheel(changed)
    assert releases.get("vllm", "1.6.0").identity != first.identity


def test_an_old_release_without_a_wheel(releases: Releases, index: PackageIndex) -> None:
    index.add("vllm", "vllm-1.0.5.tar.gz", vllm_sdist("1.0.5"))
    assert releases.get("vllm", "1.0.5").build is None
    assert releases.notes == []


class TestRanges:
    def file(self, index: PackageIndex, content: bytes) -> RangedFile:
        index.add("any", "any.bin", content)
        return RangedFile(requests.Session(), index.address.replace("/simple/", "/files/any/any.bin"), len(content))

    @settings(deadline=None, max_examples=30)
    @given(st.lists(st.tuples(st.integers(0, 400_000), st.integers(0, 100_000)), max_size=8), st.booleans())
    def test_it_reads_what_is_there(self, pieces: list[tuple[int, int]], planned: bool) -> None:
        index = PackageIndex()
        try:
            content = random.Random(7).randbytes(300_000)
            file = self.file(index, content)
            if planned:
                file.plan((start, min(start + size, len(content))) for start, size in pieces if start < len(content))
            for start, size in pieces:
                file.seek(start)
                assert file.read(size) == content[start : start + size]
        finally:
            index.go_down()

    def test_what_is_near_comes_in_one_request(self, index: PackageIndex) -> None:
        content = os.urandom(2_000_000)
        file = self.file(index, content)
        ranges = [(start, start + 1000) for start in range(0, 1_000_000, 10_000)]
        assert file.plan(ranges) == 991_000
        for start, end in ranges:
            file.seek(start)
            assert file.read(end - start) == content[start:end]
        assert index.asked["any.bin"] == 2  # the end, and the rest

    def test_a_file_of_another_size_than_promised(self, index: PackageIndex) -> None:
        index.add("any", "any.bin", b"x" * 100)
        with pytest.raises(ValueError, match="something else"):
            RangedFile(requests.Session(), index.address.replace("/simple/", "/files/any/any.bin"), 99)

    def test_a_server_that_knows_no_ranges(self, index: PackageIndex) -> None:
        index.ranges = False
        with pytest.raises(NoRanges):
            self.file(index, b"x" * 100)

    def test_a_zip_is_read_through_it(self, index: PackageIndex) -> None:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for n in range(200):
                archive.writestr(f"{n}.py", random.Random(n).randbytes(2000))
        with zipfile.ZipFile(self.file(index, content.getvalue())) as remote:
            assert all(remote.read(f"{n}.py") == random.Random(n).randbytes(2000) for n in range(200))


def test_compiled_modules_by_their_files() -> None:
    names = [
        "vllm/_C.abi3.so",
        "vllm/a/b.cpython-311-x86_64-linux-gnu.so",
        "vllm/a/c.py",
        "vllm/my-lib.so",
        "vllm/w.pyd",
    ]
    assert compiled_modules(names) == ("vllm._C", "vllm.a.b", "vllm.w")


def test_a_folder_stands_for_its_files_where_nothing_else_is_in_it() -> None:
    chosen = ["v/a.so", "v/third/x/1.py", "v/third/x/y/2.py", "v/third/z.py"]
    assert topmost(chosen, {"v/b.py", "v/third/__init__.py"}) == ("v/a.so", "v/third/x", "v/third/z.py")
    assert topmost(chosen, {"v/b.py"}) == ("v/a.so", "v/third")
