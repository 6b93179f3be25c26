from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.metadata import parse_email
from packaging.requirements import Requirement

from gonogo.engines.types import engine_named
from gonogo.releases.checkout import Declared, declared_in, version_of, version_told_by
from gonogo.releases.git import Commit

VLLM, SGLANG = engine_named("vllm"), engine_named("sglang")
SHA = "0123456789abcdef0123456789abcdef01234567"


def read(folder: Path, files: dict[str, str], *, engine: str = "vllm", commit: Commit | None = None) -> Declared:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return declared_in(engine_named(engine), folder, commit)


def at(tag: str | None, since: int = 0) -> Commit:
    return Commit(Path("/nowhere"), SHA, datetime(2026, 1, 1, tzinfo=UTC), tag, since)


# Versions as setuptools_scm tells them (its default scheme, "guess next").
@pytest.mark.parametrize(
    ("tag", "since", "version"),
    [
        ("v0.33.0", 0, "0.33.0"),
        ("v0.33.0", 12, "0.33.1.dev12+g012345678"),
        ("v0.33.0rc1", 3, "0.33.0rc2.dev3+g012345678"),
        ("v0.5.10.post1", 2, "0.5.10.post2.dev2+g012345678"),
        (None, 0, "0.1.dev0+g012345678"),
        ("v-not-a-version", 1, "0.1.dev0+g012345678"),
    ],
)
def test_version_of_a_commit(tag: str | None, since: int, version: str) -> None:
    assert version_of(at(tag, since)) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("__version__ = '0.4.9'\n", "0.4.9"),
        ("__version__ = version = '0.33.1.dev12+gabc'\n", "0.33.1.dev12+gabc"),
        ("version: str\n__version__: str\n__version__ = version = '1.2'\n", "1.2"),
        ("try:\n    from ._version import __version__\nexcept Exception:\n    __version__ = 'dev'\n", None),
        ("__version__ = 'dev'\n", None),
        ("__version__ = open('/etc/passwd').read()\n", None),
        ("this is not Python", None),
        ("", None),
    ],
)
def test_version_told_by_a_module(text: str, version: str | None) -> None:
    assert version_told_by(text) == version


def test_which_version_comes_first(tmp_path: Path) -> None:
    commit = at("v3.0", 1)
    files = {"vllm/__init__.py": "", "vllm/version.py": "from vllm._version import __version__\n"}
    assert read(tmp_path, files).version == "0+unknown"
    assert read(tmp_path, {}, commit=commit).version == "3.1.dev1+g012345678"
    assert read(tmp_path, {"pyproject.toml": '[project]\nversion = "2.0"\n'}, commit=commit).version == "2.0"
    assert read(tmp_path, {"vllm/_version.py": "__version__ = '1.0'\n"}, commit=commit).version == "1.0"


def test_a_build_would_write_the_version_file_that_the_package_asks_for(tmp_path: Path) -> None:
    files = {"vllm/__init__.py": "", "vllm/version.py": "from vllm._version import __version__\n"}
    declared = read(tmp_path, files, commit=at("v0.33.0", 12))
    namespace: dict[str, object] = {}
    exec(declared.version_file(tmp_path / "vllm") or "", namespace)
    # as setuptools_scm writes it for this version
    assert namespace["__version__"] == "0.33.1.dev12+g012345678"
    assert namespace["__version_tuple__"] == (0, 33, 1, "dev12", "g012345678")
    (tmp_path / "vllm" / "_version.py").write_text("")
    assert declared.version_file(tmp_path / "vllm") is None


REQUIREMENTS = {
    "requirements/cuda.txt": "# for NVIDIA\n-r common.txt\n--extra-index-url https://index.example\ntorch==2.14.0\n",
    "requirements/common.txt": "-r cuda.txt\nnumpy # why\nfastapi[standard] >= 0.115 ; \\\n  python_version > '3.8'\n"
    "six --hash=sha256:00\nlocal @ file:///etc/passwd\nsecret @ git+https://host.example/x\n-e ../other\n",
}


def test_requirements_in_files_of_pip(tmp_path: Path) -> None:
    declared = read(tmp_path, {"pyproject.toml": "[project]\ndynamic = ['dependencies']\n", **REQUIREMENTS})
    wanted = {"numpy", 'fastapi[standard]>=0.115; python_version > "3.8"', "six", "torch==2.14.0"}
    assert set(declared.requirements) == wanted
    assert declared.notes == (
        "local is left out: it is not on the package index but at an address of its own",
        "secret is left out: it is not on the package index but at an address of its own",
    )


def test_no_file_outside_the_checkout_is_included(tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("outside\n")
    folder = tmp_path / "checkout"
    (folder / "requirements").mkdir(parents=True)
    (folder / "requirements" / "common.txt").symlink_to(tmp_path / "outside.txt")
    text = "-r ../../outside.txt\n-r common.txt\n-r /etc/passwd\ninside\n"
    assert read(folder, {"requirements/cuda.txt": text}).requirements == ("inside",)


def test_requirements_in_pyproject(tmp_path: Path) -> None:
    text = """
[project]
requires-python = ">=3.10"
dependencies = ["requests", "decord2 ; sys_platform == 'linux'"]
[project.optional-dependencies]
srt = ["torch==2.9", "aiohttp; python_version < '4'"]
"""
    declared = read(tmp_path, {"pyproject.toml": text, **REQUIREMENTS}, engine="sglang")
    assert declared.requires_python == ">=3.10"
    assert set(map(Requirement, declared.requirements)) == {
        Requirement("requests"),
        Requirement('decord2; sys_platform == "linux"'),
        Requirement('torch==2.9; extra == "srt"'),
        Requirement('aiohttp; python_version < "4" and extra == "srt"'),
    }


def test_entry_points_in_pyproject(tmp_path: Path) -> None:
    text = (
        '[project.scripts]\nvllm = "vllm.cli:main"\n[project.entry-points."vllm.plugins"]\nours = "vllm.p:register"\n'
    )
    declared = read(tmp_path, {"pyproject.toml": text})
    assert declared.entry_points == {
        "vllm.plugins": {"ours": "vllm.p:register"},
        "console_scripts": {"vllm": "vllm.cli:main"},
    }
    assert declared.entry_points_text() == (
        "[vllm.plugins]\nours = vllm.p:register\n[console_scripts]\nvllm = vllm.cli:main\n"
    )


def test_entry_points_in_the_text_of_setup_py(tmp_path: Path) -> None:
    text = """
raise SystemExit("setup.py was run")
setup(name="vllm", python_requires=">=3.8", entry_points={"console_scripts": ["vllm=vllm.scripts:main"]})
"""
    declared = read(tmp_path, {"setup.py": text})
    assert declared.entry_points == {"console_scripts": {"vllm": "vllm.scripts:main"}}
    assert declared.requires_python == ">=3.8"


def test_entry_points_that_setup_py_computes_are_not_known(tmp_path: Path) -> None:
    assert read(tmp_path, {"setup.py": "setup(entry_points=made())"}).entry_points == {}


def test_metadata_is_read_as_such(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[project]\nversion = "1.0"\nrequires-python = ">=3.9\\nName: evil"\n', **REQUIREMENTS}
    told, unparsed = parse_email(read(tmp_path, files).metadata(VLLM))
    assert (told["name"], told["version"]) == ("vllm", "1.0")
    assert len(told["requires_dist"]) == 4
    assert not unparsed


@settings(deadline=None, max_examples=80)
@given(
    st.sampled_from(["pyproject.toml", "setup.py", "requirements/cuda.txt", "vllm/_version.py"]),
    st.binary(max_size=200),
)
def test_no_content_breaks_it(tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    declared = declared_in(VLLM, folder, None)
    declared.metadata(VLLM)
    declared.entry_points_text()


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(
            ["version", "dependencies", "optional-dependencies", "scripts", "entry-points", "requires-python"]
        ),
        st.sampled_from(
            ["1", "'x'", "[1, 'a']", "{a = 1}", "{a = ['x; y', 3]}", "{'a b' = 'c:d'}", "[]", "true", "{a = {b = 'c'}}"]
        ),
    )
)
def test_no_pyproject_breaks_it(tmp_path_factory: pytest.TempPathFactory, project: dict[str, str]) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "pyproject.toml").write_text(
        "[project]\n" + "".join(f"{key} = {value}\n" for key, value in project.items())
    )
    declared_in(SGLANG, folder, None)
