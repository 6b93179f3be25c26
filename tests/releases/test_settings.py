from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonogo.releases.settings import index_address, shown


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Variables of a user with an empty home, on a machine with an empty /etc/xdg."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_DIRS": str(tmp_path / "xdg")}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"PIP_INDEX_URL": "https://pip/simple"}, "https://pip/simple"),
        ({"UV_INDEX_URL": "https://uv/simple", "PIP_INDEX_URL": "https://pip/simple"}, "https://uv/simple"),
        ({"UV_DEFAULT_INDEX": "https://new/simple", "UV_INDEX_URL": "https://old/simple"}, "https://new/simple"),
        ({"UV_DEFAULT_INDEX": "ours=https://new/simple?a=b"}, "https://new/simple?a=b"),
        ({"UV_DEFAULT_INDEX": "https://new/simple?a=b"}, "https://new/simple?a=b"),
        ({"PIP_INDEX_URL": " "}, None),
        ({}, None),
    ],
)
def test_variables(home: dict[str, str], variables: dict[str, str], address: str | None) -> None:
    assert index_address(home | variables) == address


@pytest.mark.parametrize(
    "text",
    [
        '[[index]]\nname = "x"\nurl = "https://extra/simple"\n[[index]]\nurl = "https://uv/simple"\ndefault = true\n',
        'index-url = "https://uv/simple"\n',
        '[pip]\nindex-url = "https://uv/simple"\n',
    ],
)
def test_files_of_uv(home: dict[str, str], text: str) -> None:
    write(Path(home["HOME"]) / ".config/uv/uv.toml", text)
    write(Path(home["HOME"]) / ".config/pip/pip.conf", "[global]\nindex-url = https://pip/simple\n")
    assert index_address(home) == "https://uv/simple"


def test_files_of_pip(home: dict[str, str]) -> None:
    write(Path(home["XDG_CONFIG_DIRS"]) / "pip/pip.conf", "[global]\nindex-url = https://all/simple\n")
    assert index_address(home) == "https://all/simple"
    write(Path(home["HOME"]) / ".config/pip/pip.conf", "[global]\nindex-url = https://mine/simple\n")
    assert index_address(home) == "https://mine/simple"
    chosen = Path(home["HOME"]) / "chosen.conf"
    write(chosen, "[install]\nindex_url = https://chosen/simple\n")
    assert index_address(home | {"PIP_CONFIG_FILE": str(chosen)}) == "https://chosen/simple"
    assert index_address(home | {"PIP_CONFIG_FILE": "/dev/null"}) is None


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=200))
def test_no_file_of_a_user_breaks_it(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in ("uv/uv.toml", "pip/pip.conf"):
        (home / ".config" / name).parent.mkdir(parents=True)
        (home / ".config" / name).write_bytes(content)
    index_address({"HOME": str(home), "XDG_CONFIG_DIRS": str(home)})


def test_a_password_is_not_shown() -> None:
    assert shown("https://me:secret@index.example:8080/simple") == "https://index.example:8080/simple"
    assert shown("https://index.example/simple") == "https://index.example/simple"
