from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.models.mounted import Mounts, parse_mounted
from gonogo.problems import UsageProblem


def test_words() -> None:
    assert parse_mounted(["/models/llama=meta-llama/Llama-3.1-8B", "/d=./x=y", "/d=./x=y"]) == {
        "/models/llama": "meta-llama/Llama-3.1-8B",
        "/d": "./x=y",
    }  # fmt: skip


@pytest.mark.parametrize("word", ["", "=", "/models", "/models=", "=org/name", " =x", "/m=a\0b", "/m\0=org/name"])
def test_words_that_are_none(word: str) -> None:
    with pytest.raises(UsageProblem, match="--model-facts takes PATH=ORG/NAME or PATH=FOLDER, not"):
        parse_mounted([word])


def test_one_path_two_models() -> None:
    with pytest.raises(UsageProblem, match="says two things"):
        parse_mounted(["/m=org/a", "/m=org/b"])


@given(st.lists(st.text(alphabet="ab= \0/é", max_size=5), max_size=3))
def test_any_words_are_a_mapping_or_a_usage_problem(words: list[str]) -> None:
    pairs = {tuple(word.split("=", 1)) for word in words}
    well_formed = all(len(pair) == 2 and all(map(str.strip, pair)) and "\0" not in "".join(pair) for pair in pairs)
    if well_formed and len({pair[0] for pair in pairs}) == len(pairs):
        assert set(parse_mounted(words).items()) == pairs
    else:
        with pytest.raises(UsageProblem):
            parse_mounted(words)


def test_the_longest_mount_wins(tmp_path: Path) -> None:
    mounts = Mounts(
        {"/models": tmp_path, "/models/llama/": "org/llama", "./here": "org/here", "acme/ours": "o/p"}, tmp_path
    )
    assert mounts.find("/models") == (tmp_path, "")
    assert mounts.find("/models/qwen/x/") == (tmp_path, "qwen/x")
    assert mounts.find("/models//llama") == ("org/llama", "")
    assert mounts.find("/models/llama/sub") == ("org/llama", "sub")
    assert mounts.find("/models/llama2") == (tmp_path, "llama2")
    assert mounts.find("/models/llama/../../etc") is None
    assert mounts.find("here/") == ("org/here", "")
    assert mounts.find("acme/ours") == ("o/p", "")
    assert mounts.find("/elsewhere") is None
    assert mounts.find("/modelsx") is None


def test_a_mounted_root(tmp_path: Path) -> None:
    assert Mounts({"/": "org/all"}, tmp_path).find("/a/b") == ("org/all", "a/b")


@pytest.mark.parametrize(
    "target", ["/nowhere/at/all", "./nowhere", "org/name/extra", "nöwhere", "~nobody-there/x", "x" * 300]
)
def test_a_target_that_is_nothing(tmp_path: Path, target: str) -> None:
    with pytest.raises(UsageProblem, match="no such folder"):
        Mounts({"/models": target}, tmp_path)


def test_a_folder_before_a_repository_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "org/name").mkdir(parents=True)
    assert Mounts({"/m": "org/name"}, tmp_path).find("/m") == (tmp_path / "org/name", "")
