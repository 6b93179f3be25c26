"""Bad input that only real engines can answer, and bad days of a cache that holds one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gonogo
from gonogo.places import cache_folder
from gonogo.releases import Releases
from tests.test_bad_input import can_unshare
from tests.test_endings import linux, processes_below, wait_until

pytestmark = pytest.mark.engines

LLAMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "models" / "tiny-llama" / "config.json").read_text(encoding="utf-8")
)
VLLM, SGLANG = "vllm==0.33.0", "sglang==0.5.23"
H100 = "H100-80GB:1"


@pytest.fixture(scope="module")
def checker() -> Iterator[gonogo.Checker]:
    with gonogo.Checker() as made:
        yield made


def check(checker: gonogo.Checker, release: str, model: Path | str, *more: str) -> gonogo.WorldResult:
    words = {VLLM: ["vllm", "serve"], SGLANG: ["python", "-m", "sglang.launch_server", "--model-path"]}[release]
    result = checker.check([*words, str(model), *more], release=release, gpu=H100, hub=False)
    (launch,) = result.launches
    (world,) = launch.worlds
    assert launch.verdict == {"passed": "GO", "refused": "NO-GO", "crashed": "NO-GO", "unclear": "HOLD"}[world.outcome]
    return world


# -- model facts that make no sense: the engine itself answers


@pytest.mark.parametrize(
    ("release", "changed", "expected"),
    [
        (VLLM, {"model_type": "zzz"}, "has model type `zzz` but Transformers does not recognize this architecture"),
        (SGLANG, {"model_type": "zzz"}, "has model type `zzz` but Transformers does not recognize this architecture"),
        (VLLM, {"architectures": ["NoSuchForCausalLM"]}, "Model architectures ['NoSuchForCausalLM'] are not supported"),
        (VLLM, {"model_type": None}, "Unrecognized model in"),
        (SGLANG, {"model_type": None}, "Unrecognized model in"),
        (VLLM, {"hidden_size": "big"}, "Field 'hidden_size' expected int, got str"),
    ],
)
def test_a_config_that_no_engine_takes(
    checker: gonogo.Checker, tmp_path: Path, release: str, changed: dict[str, Any], expected: str
) -> None:
    config = {name: value for name, value in {**LLAMA, **changed}.items() if value is not None}
    (tmp_path / "config.json").write_text(json.dumps(config))
    world = check(checker, release, tmp_path)
    # A later transformers may know a type that this one does not; SGLang asks for one version only, vLLM does not.
    open_version = release == VLLM and changed.get("model_type") == "zzz"
    assert world.outcome == ("unclear" if open_version else "refused")
    assert open_version == any("which transformers is installed" in told for told in world.depends_on)
    assert world.error is not None
    assert expected in world.error.message
    assert world.error.site is not None
    assert world.error.site.path.startswith(release.partition("==")[0] + "/")


def test_a_config_that_an_engine_falls_over(checker: gonogo.Checker, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "num_attention_heads": 0}))
    for release in (VLLM, SGLANG):
        world = check(checker, release, tmp_path)
        assert world.outcome == "crashed"
        assert world.reason == "the engine fell over instead of refusing: a bug of the engine"
        assert world.error is not None
        assert world.error.type == "ZeroDivisionError"


def test_a_config_that_is_no_json_is_told_with_its_file(checker: gonogo.Checker, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama",')
    with pytest.raises(gonogo.UsageProblem, match=r"config\.json is broken JSON: .* in line 1"):
        check(checker, VLLM, tmp_path)


# -- words


@pytest.mark.parametrize("word", ["x" * 1_000_000, "\udcff\udcfe", "é漢🚀", "\n\t\x1b[31m", "", "'\"$`"])
def test_a_word_that_no_option_takes(checker: gonogo.Checker, word: str) -> None:
    world = check(checker, VLLM, "x", "--dtype", word)
    assert world.error is not None
    assert (world.error.type, world.error.wrapped_by) == ("ArgumentError", ("SystemExit",))
    assert world.error.message.startswith(f"argument --dtype: invalid choice: {word!r} (choose from 'auto', ")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("{", "refused"), ("{max:1}", "refused"), ("nul", "refused"), ("[" * 100_000, "crashed")],
    ids=["open", "no JSON", "half a word", "too deep"],
)
def test_words_that_an_engine_reads_as_json(checker: gonogo.Checker, text: str, outcome: str) -> None:
    world = check(checker, VLLM, "x", "--speculative-config", text)
    assert world.outcome == outcome
    assert world.error is not None
    said = (world.error.type, world.error.wrapped_by)
    assert said == (("RecursionError", ()) if outcome == "crashed" else ("ArgumentError", ("SystemExit",)))


# -- the cache


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A copy of vllm 0.33.0 alone, made of hard links: files in it may be removed, not changed."""
    release = Releases().get("vllm", "0.33.0")
    made = tmp_path / "cache"
    for folder in (release.root.parent, release.environment.parent):
        copy = made / folder.relative_to(cache_folder())
        shutil.copytree(folder, copy, copy_function=os.link, symlinks=True)
    return made


def command(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GONOGO_CACHE": str(cache), "TMPDIR": str(cache.parent), "HF_HUB_OFFLINE": "1"}
    line = [sys.executable, "-m", "gonogo", *words]
    return subprocess.run(line, env=env, capture_output=True, text=True, check=False)


GO = ("check", "--offline", "--release", VLLM, "--gpu", H100, "--", "vllm", "serve", "x", "--max-num-seqs", "0")


def test_half_of_an_environment_is_no_verdict(cache: Path) -> None:
    whole = command(cache, *GO)
    assert whole.returncode == 1, whole
    (site,) = (cache / "environments").glob("*/site")
    for number, folder in enumerate(sorted(site.iterdir())):
        if number % 2 and folder.is_dir():
            shutil.rmtree(folder)
    shutil.rmtree(cache / "outcomes")
    half = command(cache, *GO)
    assert (half.returncode, half.stderr) == (3, "")
    assert half.stdout.startswith("HOLD")
    assert "Traceback" not in half.stdout


@pytest.mark.skipif(not can_unshare("-n"), reason="needs a network namespace")
def test_a_cached_release_needs_no_network(cache: Path) -> None:
    env = {**os.environ, "GONOGO_CACHE": str(cache), "TMPDIR": str(cache.parent)}
    words = [word for word in GO if word != "--offline"]
    line = ["unshare", "-n", sys.executable, "-m", "gonogo", *words]
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, ""), done


def test_two_checks_at_once_say_the_same(cache: Path) -> None:
    env = {**os.environ, "GONOGO_CACHE": str(cache), "TMPDIR": str(cache.parent)}
    line = [sys.executable, "-m", "gonogo", *GO]
    both = [subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    told = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [1, 1], told
    assert told[0] == told[1]
    assert told[0][1] == b""
    again = command(cache, *GO)
    assert again.stdout.encode() == told[0][0]


@linux
def test_a_check_that_is_killed_leaves_no_engine_behind(cache: Path) -> None:
    temporary = cache.parent / "tmp"
    temporary.mkdir()
    env = {**os.environ, "GONOGO_CACHE": str(cache), "TMPDIR": str(temporary)}
    process = subprocess.Popen(
        [sys.executable, "-m", "gonogo", *GO], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: len(processes_below(temporary)) > 0)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: processes_below(temporary) == [])
    wait_until(lambda: list(temporary.iterdir()) == [])
    assert command(cache, *GO).returncode == 1
