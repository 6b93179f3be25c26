from __future__ import annotations

from typing import Any

import pytest

from gonogo.check.words import check_environment, launches_of
from gonogo.launches import Launch
from gonogo.problems import UsageProblem

ONE = Launch("vllm", ("vllm", "serve", "x"), "command", "vllm", ("serve", "x"))


@pytest.mark.parametrize("command", ["vllm serve x", ["vllm", "serve", "x"], ("vllm", "serve", "x"), ONE, [ONE]])
def test_every_way_to_give_one_launch(command: Any) -> None:
    (launch,) = launches_of(command)
    assert (launch.engine, launch.args) == ("vllm", ("serve", "x"))


def test_several_launches() -> None:
    assert launches_of([ONE, ONE]) == [ONE, ONE]


@pytest.mark.parametrize("command", [None, 7, b"vllm serve x", [ONE, "vllm"], ["vllm", None], {"vllm": 1}, [["vllm"]]])
def test_anything_else(command: Any) -> None:
    with pytest.raises(UsageProblem, match="a launch is a shell line, a list of words, or Launch objects"):
        launches_of(command)


@pytest.mark.parametrize("command", ["", "  ", [], [""]])
def test_nothing(command: Any) -> None:
    with pytest.raises(UsageProblem, match="the command is empty"):
        launches_of(command)


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve \0",
        ["vllm", "serve", "\0"],
        Launch("vllm", ("vllm", "\0"), "command", "vllm", ("\0",)),
        Launch("vllm", ("vllm",), "command", "vllm", (), env={"A": "\0"}),
    ],
)
def test_a_nul_byte(command: Any) -> None:
    with pytest.raises(UsageProblem, match="has a NUL byte in it"):
        launches_of(command)


def test_half_a_surrogate_pair_and_bytes_that_are_no_text() -> None:
    with pytest.raises(UsageProblem, match="half a surrogate pair"):
        launches_of(["vllm", "serve", "\ud83d"])
    (launch,) = launches_of(["vllm", "serve", b"\xff\xfe".decode("utf-8", "surrogateescape")])
    assert launch.args[1] == "\udcff\udcfe"  # as the system gives such an argument to Python


@pytest.mark.parametrize("env", [{"": "1"}, {"A=B": "1"}])
def test_names_that_no_variable_has(env: dict[str, str]) -> None:
    with pytest.raises(UsageProblem, match="is no name of an environment variable"):
        check_environment(env)
