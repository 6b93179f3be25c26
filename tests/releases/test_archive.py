from __future__ import annotations

import contextlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gonogo.engines.types import engine_named
from gonogo.problems import OwnProblem, ReleaseProblem
from gonogo.releases.archive import chosen_file, unpack
from gonogo.releases.index import ArchiveFile, ReleaseInfo

from .conftest import vllm_sdist
from .package_index import sdist, wheel

VLLM, SGLANG = engine_named("vllm"), engine_named("sglang")


def unpacked(tmp_path: Path, content: bytes, engine: str = "vllm") -> Path:
    archive = tmp_path / ("it.tar.gz" if engine == "vllm" else "it.whl")
    archive.write_bytes(content)
    unpack(engine_named(engine), "1.0.0", archive, tmp_path / "tree")
    return tmp_path / "tree"


def link(name: str, target: str, kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "name", ["/etc/evil", "vllm-1.0.0/../../evil", "../evil", "vllm-1.0.0/vllm/../../../evil", "vllm-1.0.0\\..\\evil"]
)
def test_an_sdist_that_would_write_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    content = sdist("vllm", "1.0.0", {"vllm/__init__.py": b""}, extra=(tarfile.TarInfo(name),))
    with pytest.raises(OwnProblem, match="would be written elsewhere"):
        unpacked(tmp_path, content)
    assert everything(tmp_path) <= {
        "it.tar.gz",
        "tree",
        "tree/vllm",
        "tree/vllm/__init__.py",
        "tree/vllm-1.0.0.dist-info",
    } | {"tree/vllm-1.0.0.dist-info/METADATA"}


@pytest.mark.parametrize("name", ["/etc/evil", "../evil", "sglang/../../evil"])
def test_a_wheel_that_would_write_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OwnProblem, match="would be written elsewhere"):
        unpacked(tmp_path, wheel("sglang", "1.0.0", {"sglang/__init__.py": b"", name: b"evil"}), "sglang")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_special_files_are_left_out(tmp_path: Path, kind: bytes) -> None:
    """Also what would be written through a link: the link is not there, so it lands inside."""
    (tmp_path / "outside").mkdir()
    through = tarfile.TarInfo("vllm-1.0.0/vllm/way/evil.py")
    through.size = 4
    extra = (link("vllm-1.0.0/vllm/way", str(tmp_path / "outside"), kind), through)
    tree = unpacked(tmp_path, sdist("vllm", "1.0.0", {"vllm/__init__.py": b""}, extra=extra))
    assert everything(tmp_path / "outside") == set()
    assert not (tree / "vllm" / "way").is_symlink()
    assert (tree / "vllm" / "way" / "evil.py").read_bytes() == b"xxxx"


def test_a_link_in_a_wheel_is_left_out(tmp_path: Path) -> None:
    content = io.BytesIO(wheel("sglang", "1.0.0", {"sglang/__init__.py": b""}))
    with zipfile.ZipFile(content, "a") as archive:
        info = zipfile.ZipInfo("sglang/way")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc")
    assert everything(unpacked(tmp_path, content.getvalue(), "sglang") / "sglang") == {"__init__.py"}


@settings(deadline=None, max_examples=50)
@given(st.text(st.sampled_from("av./\\\0 ~$é"), min_size=1, max_size=20))
@example("vllm-1.0.0/vllm")
@example("vllm-1.0.0/vllm/__init__.py")
@example("./vllm-1.0.0/vllm/a.py")
def test_whatever_a_member_is_called_nothing_is_written_outside(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    top = tmp_path_factory.mktemp("any")
    member = tarfile.TarInfo(name)
    member.size = 1
    with contextlib.suppress(OwnProblem):
        unpacked(top, sdist("vllm", "1.0.0", {"vllm/__init__.py": b""}, extra=(member,)))
    assert {path.split("/")[0] for path in everything(top)} == {"it.tar.gz", "tree"}


@pytest.mark.parametrize("cut", [0, 1, 20, 100, 300])
def test_a_cut_off_archive_is_said_to_be_broken(tmp_path: Path, cut: int) -> None:
    with pytest.raises(OwnProblem, match=r"broken|holds no package"):
        unpacked(tmp_path, vllm_sdist("1.0.0")[:cut])


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=300))
def test_rubbish_is_said_to_be_broken(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    for engine in ("vllm", "sglang"):
        with pytest.raises(OwnProblem):
            unpacked(tmp_path_factory.mktemp("rubbish"), content, engine)


def test_an_archive_of_which_a_file_is_damaged(tmp_path: Path) -> None:
    content = bytearray(vllm_sdist("1.0.0"))
    content[len(content) // 2] ^= 0xFF
    with pytest.raises(OwnProblem):
        unpacked(tmp_path, bytes(content))


def info(*names: str) -> ReleaseInfo:
    files = tuple(
        ArchiveFile(name, "", "wheel" if name.endswith(".whl") else "sdist", "0", None, None) for name in names
    )
    return ReleaseInfo("sglang", "1.0", False, False, "", None, files)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        # the files of sglang 0.5.23, and of 0.5.9, as the index has them
        (
            [f"sglang-1.0-cp{v}-cp{v}-manylinux_2_34_{m}.whl" for v in (311, 312, 313) for m in ("aarch64", "x86_64")],
            "sglang-1.0-cp312-cp312-manylinux_2_34_x86_64.whl",
        ),
        (["sglang-1.0-py3-none-any.whl", "sglang-1.0.tar.gz"], "sglang-1.0-py3-none-any.whl"),
        # none for this Python: any will do
        (["sglang-1.0-cp310-cp310-macosx_11_0_arm64.whl"], "sglang-1.0-cp310-cp310-macosx_11_0_arm64.whl"),
        (["rubbish.whl", "sglang-1.0-py3-none-any.whl"], "sglang-1.0-py3-none-any.whl"),
    ],
)
def test_the_wheel_nearest_to_this_python(names: list[str], chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 12, 1, "final", 0))
    assert chosen_file(SGLANG, info(*names)).filename == chosen


def test_what_is_not_there_is_not_chosen() -> None:
    assert chosen_file(VLLM, info("vllm-1.0-py3-none-any.whl")).filename == "vllm-1.0-py3-none-any.whl"
    assert chosen_file(SGLANG, info("sglang-1.0.tar.gz")).filename == "sglang-1.0.tar.gz"
    with pytest.raises(ReleaseProblem, match=r"no file on the package index"):
        chosen_file(VLLM, info())


def test_vllm_is_read_from_its_sdist() -> None:
    assert chosen_file(VLLM, info("vllm-1.0-py3-none-any.whl", "vllm-1.0.tar.gz")).filename == "vllm-1.0.tar.gz"
