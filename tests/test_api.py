"""What other programs may import, and what they get."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import inspect
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import gonogo
from gonogo.check.checker import Checker
from tests.test_endings import linux, processes_below, wait_until
from tests.tiny_engine import Place

#: The public API. A name that is added here stays.
PUBLIC = [
    *(
        "Because",
        "CheckResult",
        "Checker",
        "Error",
        "Launch",
        "LaunchResult",
        "OwnProblem",
        "Problem",
        "Site",
        "Source",
    ),
    *("UsageProblem", "WorldResult", "check"),
]
RESULTS = ["Because", "CheckResult", "Error", "Launch", "LaunchResult", "Site", "Source", "WorldResult"]


def test_the_public_names() -> None:
    assert sorted(gonogo.__all__) == sorted(PUBLIC)
    assert set(PUBLIC) <= set(dir(gonogo))
    for name in PUBLIC:
        made = getattr(gonogo, name)
        assert made.__name__ == name
        assert inspect.getdoc(made), name


def test_every_public_method_says_what_it_does() -> None:
    for name in PUBLIC:
        for method, value in vars(getattr(gonogo, name)).items():
            if inspect.isfunction(value) and not method.startswith("_"):
                assert inspect.getdoc(value), f"{name}.{method}"


@pytest.mark.parametrize("name", RESULTS)
def test_results_cannot_be_changed(name: str) -> None:
    made = getattr(gonogo, name)
    assert dataclasses.is_dataclass(made)
    assert vars(made)["__dataclass_params__"].frozen


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'gonogo' has no attribute 'chekc'"):
        gonogo.chekc  # noqa: B018


def test_the_version_is_that_of_the_package() -> None:
    assert importlib.metadata.version("gonogo") == gonogo.__version__


def test_check_takes_what_the_checker_takes() -> None:
    alone, kept = inspect.signature(gonogo.check), inspect.signature(Checker.check)
    assert list(alone.parameters.values()) == list(kept.parameters.values())[1:]
    assert alone.return_annotation == kept.return_annotation


def test_the_function_stays_when_its_room_is_imported() -> None:
    code = "import gonogo; from gonogo.check import verdict; print(gonogo.check.__name__, verdict.worst)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("check <function worst")


def test_import_star() -> None:
    code = "from gonogo import *; print(Checker, check, CheckResult)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout


# -- with the tiny engine


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """This very process, with the cache of the tiny engine."""
    for name, value in place.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("tempfile.tempdir", str(place.temporary))
    return place


@pytest.fixture
def checker(here: Place) -> Iterator[gonogo.Checker]:
    with gonogo.Checker() as made:
        yield made


def test_check_gives_typed_results(here: Place) -> None:
    result = gonogo.check("A=1 vllm serve x --refuse 'no way'", release="vllm==0.32.0", gpu="cpu", env={"B": "2"})
    assert isinstance(result, gonogo.CheckResult)
    assert (result.verdict, result.schema) == ("NO-GO", "gonogo.check/1")
    (launch,) = result.launches
    assert isinstance(launch, gonogo.LaunchResult)
    assert launch.argv == ("vllm", "serve", "x", "--refuse", "no way")
    assert launch.env == {"A": "1", "B": "2"}
    assert (launch.engine, launch.verdict, launch.decided_by) == ("vllm", "NO-GO", None)
    assert launch.source == gonogo.Source()
    (world,) = launch.worlds
    assert isinstance(world, gonogo.WorldResult)
    assert (world.release, world.release_from, world.gpu, world.count, world.nodes) == ("0.32.0", "option", "cpu", 0, 1)
    assert world.stages == {"arguments": "passed", "configuration": "refused"}
    assert isinstance(world.error, gonogo.Error)
    assert (world.error.type, world.error.message, world.error.wrapped_by) == ("ValueError", "no way", ())
    assert world.error.site == gonogo.Site("vllm/engine/arg_utils.py", 16, "EngineArgs.create_engine_config")
    assert list(here.temporary.iterdir()) == []


@linux
def test_a_checker_keeps_its_child_and_ends_it(here: Place) -> None:
    with gonogo.Checker(remember=False) as checker:
        assert checker.check("vllm serve x", release="vllm==0.32.0", gpu="cpu").verdict == "GO"
        (first,) = processes_below(here.temporary)
        assert checker.check(["vllm", "serve", "y"], release="vllm==0.32.0", gpu="cpu").verdict == "GO"
        assert processes_below(here.temporary) == [first]
    assert processes_below(here.temporary) == []
    assert list(here.temporary.iterdir()) == []


def test_several_launches_are_as_good_as_the_worst(checker: gonogo.Checker) -> None:
    good = gonogo.Launch(
        "vllm", ("vllm", "serve", "x"), "command", "vllm", ("serve", "x"), source=gonogo.Source("a.sh", 3)
    )
    bad = dataclasses.replace(good, args=("serve", "x", "--refuse", "no"))
    result = checker.check([good, bad, good], release="vllm==0.32.0", gpu="cpu")
    assert result.verdict == "NO-GO"
    assert [launch.verdict for launch in result.launches] == ["GO", "NO-GO", "GO"]
    assert result.launches[0].source == gonogo.Source("a.sh", 3)


def test_a_launch_that_cannot_be_read_is_a_problem_of_the_caller(checker: gonogo.Checker) -> None:
    for wrong in ("", "foo", "vllm serve 'x", None, ["vllm", "serve", "\0"], ["vllm", 1], "vllm serve \ud800"):
        with pytest.raises(gonogo.UsageProblem) as caught:
            checker.check(wrong, release="vllm==0.32.0", gpu="cpu")  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        assert caught.value.exit_code == 2
    wrong_options: list[dict[str, Any]] = [
        *({"gpu": "H1000"}, {"release": "vllm==x"}, {"models_dir": "/no/such"}, {"env": {"A=": "1"}}),
        *({"model_facts": {"/m": "/no/such"}}, {"gpu": ["cpu", ""]}),
    ]
    for options in wrong_options:
        with pytest.raises(gonogo.UsageProblem):
            checker.check("vllm serve x", **{"release": "vllm==0.32.0", "gpu": "cpu", **options})
    assert (
        checker.check("vllm serve x", release="vllm==0.32.0", gpu="cpu").verdict == "GO"
    )  # and nothing is broken after


def test_strange_but_possible_words_reach_the_engine_as_they_are(checker: gonogo.Checker) -> None:
    for word in ("é漢\u202e🚀", "a\tb\nc", "\udcff\udc80", "'\"$`\\", " ", "\x1b[31m", "x" * 1_000_000):
        result = checker.check(["vllm", "serve", "x", "--refuse", word], release="vllm==0.32.0", gpu="cpu")
        error = result.launches[0].worlds[0].error
        assert result.verdict == "NO-GO"
        assert error is not None
        assert error.message == word


@linux
def test_a_child_that_was_killed_is_replaced(here: Place) -> None:
    with gonogo.Checker(remember=False) as checker:
        checker.check("vllm serve x", release="vllm==0.32.0", gpu="cpu")
        (child,) = processes_below(here.temporary)
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: processes_below(here.temporary) == [])
        assert checker.check("vllm serve x", release="vllm==0.32.0", gpu="cpu").verdict == "GO"
    assert list(here.temporary.iterdir()) == []


def test_a_checker_in_a_thread_that_ends_keeps_working(here: Place) -> None:
    """Linux tells a child that its parent ended when it was only the parent's thread."""
    with gonogo.Checker(remember=False) as checker:
        verdicts: list[str] = []
        for _ in range(2):
            thread = threading.Thread(
                target=lambda: verdicts.append(checker.check("vllm serve x", release="vllm==0.32.0", gpu="cpu").verdict)
            )
            thread.start()
            thread.join()
            before = processes_below(here.temporary) if sys.platform.startswith("linux") else []
        assert verdicts == ["GO", "GO"]
        assert checker.check("vllm serve x", release="vllm==0.32.0", gpu="cpu").verdict == "GO"
        assert before == (processes_below(here.temporary) if before else [])
