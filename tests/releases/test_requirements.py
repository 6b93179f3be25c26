from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonogo.releases.python import ChildPython
from gonogo.releases.requirements import for_image, needed, read_answer

# What uv 0.13.9 printed for vllm 0.33.0 (excerpt).
ANSWER = """\
depyf==0.20.0
    # via -r requirements.in
dill==0.4.1
    # via depyf
jinja2==3.1.6
    # via
    #   fastapi
    #   torch
fastapi==0.136.3
    # via -r requirements.in
sympy==1.14.0
    # via torch
mpmath==1.3.0
    # via sympy
Torch==2.14.0
    # via
    #   -r requirements.in
    #   compressed-tensors
compressed_tensors==0.17.0
    # via -r requirements.in
"""


def test_versions_and_who_asks_for_them() -> None:
    graph = read_answer(ANSWER)
    assert graph["torch"] == ("2.14.0", {"", "compressed-tensors"})
    assert graph["jinja2"] == ("3.1.6", {"fastapi", "torch"})
    assert len(graph) == 8


@pytest.mark.parametrize(
    ("without", "also", "kept"),
    [
        ([], [], {"depyf", "dill", "jinja2", "fastapi", "sympy", "mpmath", "torch", "compressed-tensors"}),
        # what only torch needs goes with it; what fastapi needs too stays
        (["torch*"], [], {"depyf", "dill", "jinja2", "fastapi", "compressed-tensors"}),
        (["Torch", "fastapi"], [], {"depyf", "dill", "compressed-tensors"}),
        (["torch", "depyf"], ["dill"], {"dill", "jinja2", "fastapi", "compressed-tensors"}),
        (["*"], [], set()),
    ],
)
def test_what_is_left_out_takes_along_what_only_it_needs(without: list[str], also: list[str], kept: set[str]) -> None:
    assert needed(read_answer(ANSWER), without, also) == kept


names = st.sampled_from("abcdefgh")


@settings(deadline=None)
@given(st.dictionaries(names, st.sets(names | st.just(""))), st.sets(names))
def test_only_what_is_asked_for_is_needed(asked_by: dict[str, set[str]], without: set[str]) -> None:
    graph = {name: ("1", who) for name, who in asked_by.items()}
    found = needed(graph, sorted(without), [])
    assert found <= set(graph) - without
    for name in set(graph) - without:
        if name in found:
            assert asked_by[name] & (found | {""})
        else:
            assert not asked_by[name] & (found | {""})


# Of the metadata of sglang 0.4.0.
DECLARED = [
    "requests",
    "IPython",
    'torch; extra == "srt"',
    'sglang[runtime_common]; extra == "srt"',
    'aiohttp; extra == "runtime-common"',
    'torchao>=0.7.0; extra == "runtime_common"',
    'openai>=1.0; extra == "openai"',
    'uvloop; sys_platform == "linux"',
    'pywin32; sys_platform == "win32"',
    'setuptools<81; python_version > "3.11"',
    "not a requirement at all",
]


@pytest.mark.parametrize(
    ("extras", "version", "wanted"),
    [
        ([], "3.11.7", {"requests", "IPython", "uvloop"}),
        ([], "3.12.1", {"requests", "IPython", "uvloop", "setuptools"}),
        (["srt"], "3.11.7", {"requests", "IPython", "uvloop", "torch", "aiohttp", "torchao"}),
        (["openai", "nothing"], "3.11.7", {"requests", "IPython", "uvloop", "openai"}),
    ],
)
def test_which_requirements_hold_in_the_image(extras: list[str], version: str, wanted: set[str]) -> None:
    found = for_image("sglang", DECLARED, extras, ChildPython(Path("python"), version))
    assert {one.name for one in found} == wanted
    assert all(one.marker is None for one in found)
