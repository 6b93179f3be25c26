"""The two launches that the project began with, on the releases that they were written up for and the ones after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gonogo

pytestmark = pytest.mark.engines

MODELS = Path(__file__).parents[2] / "examples" / "models"
SPECULATION = '{"method":"eagle","model":"yuhuili/EAGLE-LLaMA3.1-Instruct-8B","num_speculative_tokens":3}'
FAST_PREFILL = [
    *("vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct", "--kv-sharing-fast-prefill"),
    *("--speculative-config", SPECULATION),
]
NO_KV_CACHE = (
    "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --prefill-only-disable-kv-cache"
)
ASKED_FOR_FIRST = "--is-embedding --chunked-prefill-size -1 --disable-radix-cache"
NEEDS_FA = (
    "--prefill-only-disable-kv-cache currently requires the FA prefill backend (fa3/fa4), but got prefill backend "
)
OTHERS = " Other prefill-only workloads and backends may be supported in a future change."


@pytest.fixture(scope="module")
def checker() -> Iterator[gonogo.Checker]:
    with gonogo.Checker() as made:
        yield made


def only(result: gonogo.CheckResult) -> gonogo.LaunchResult:
    (launch,) = result.launches
    return launch


def error_of(world: gonogo.WorldResult) -> gonogo.Error:
    assert world.error is not None, world
    return world.error


@pytest.mark.parametrize(
    ("release", "kind", "path", "line"),
    [
        ("vllm==0.11.0", "NotImplementedError", "vllm/config/__init__.py", 394),
        ("vllm==0.27.1", "ValueError", "vllm/config/vllm.py", 1444),
        ("vllm==0.28.0", "ValueError", "vllm/config/vllm.py", 1551),
        ("vllm==0.32.0", "ValueError", "vllm/config/vllm.py", 1947),
        ("vllm==0.33.0", "ValueError", "vllm/config/vllm.py", 2023),
    ],
)
def test_fast_prefill_and_eagle(checker: gonogo.Checker, release: str, kind: str, path: str, line: int) -> None:
    launch = only(checker.check(FAST_PREFILL, release=release, gpu="H100-80GB:8", models_dir=MODELS, hub=False))
    (world,) = launch.worlds
    error = error_of(world)
    assert (launch.verdict, world.outcome, world.depends_on) == ("NO-GO", "refused", ())
    assert world.stages == {"arguments": "passed", "configuration": "refused"}
    # pydantic wraps a ValueError, and lets a NotImplementedError through as it is
    assert (error.type, error.wrapped_by) == (kind, ("ValidationError",) if kind == "ValueError" else ())
    assert error.message == (
        "Fast prefill optimization for KV sharing is not compatible with EAGLE as EAGLE requires correct logits for all"
        " tokens while fast prefill gives incorrect logits for prompt tokens."
    )
    assert error.site == gonogo.Site(path, line, "VllmConfig.__post_init__")


def test_a_flag_that_an_older_release_does_not_know(checker: gonogo.Checker) -> None:
    launch = only(checker.check(FAST_PREFILL, release="vllm==0.8.5", gpu="H100-80GB:8", models_dir=MODELS, hub=False))
    error = error_of(launch.worlds[0])
    assert (launch.verdict, error.type) == ("NO-GO", "ArgumentError")
    assert error.message == "unrecognized arguments: --kv-sharing-fast-prefill"


def test_the_error_keeps_its_id_from_one_release_to_the_next(checker: gonogo.Checker) -> None:
    ids = set()
    for release in ("vllm==0.32.0", "vllm==0.33.0"):
        launch = only(checker.check(FAST_PREFILL, release=release, gpu="H100-80GB:8", models_dir=MODELS, hub=False))
        ids.add(error_of(launch.worlds[0]).id)
    assert len(ids) == 1


def test_either_of_the_two_flags_alone_is_a_go(checker: gonogo.Checker) -> None:
    for words in ([*FAST_PREFILL[:3], *FAST_PREFILL[4:]], FAST_PREFILL[:4]):
        launch = only(checker.check(words, release="vllm==0.33.0", gpu="H100-80GB:8", models_dir=MODELS, hub=False))
        assert launch.verdict == "GO", launch


_HOOK = "sglang/srt/arg_groups/kv_cache_hook.py"


@pytest.mark.parametrize(
    ("release", "path", "line"),
    [
        ("sglang==0.5.18", "sglang/srt/server_args.py", 7279),
        ("sglang==0.5.19", _HOOK, 410),
        ("sglang==0.5.23", _HOOK, 880),
    ],
)
def test_no_kv_cache_as_printed_asks_for_something_else_first(
    checker: gonogo.Checker, release: str, path: str, line: int
) -> None:
    for backend in ("flashinfer", "fa3"):  # as printed before and after the fix
        command = f"{NO_KV_CACHE} --attention-backend {backend}"
        launch = only(checker.check(command, release=release, gpu="H100-80GB:1", models_dir=MODELS, hub=False))
        error = error_of(launch.worlds[0])
        assert launch.verdict == "NO-GO"
        assert error.type == "ValueError"
        assert "--is-embedding" in error.message
        site = error.site
        assert site is not None
        assert (site.path, site.line) == (path, line)
        assert site.function.rpartition(".")[2].strip("_") == "validate_prefill_only_disable_kv_cache_args"


@pytest.mark.parametrize(
    ("release", "path", "line"),
    [
        ("sglang==0.5.18", "sglang/srt/server_args.py", 7360),
        ("sglang==0.5.19", _HOOK, 135),
        ("sglang==0.5.23", _HOOK, 344),
    ],
)
def test_no_kv_cache_hangs_on_the_gpu(checker: gonogo.Checker, release: str, path: str, line: int) -> None:
    gpus = ["A100-80GB:1", "L4:1", "B200:1", "MI300X:1", "H100-80GB:1"]
    launch = only(
        checker.check(f"{NO_KV_CACHE} {ASKED_FOR_FIRST}", release=release, gpu=gpus, models_dir=MODELS, hub=False)
    )
    assert (launch.verdict, launch.decided_by) == ("HOLD", "gpu")
    outcomes = {f"{world.gpu}:{world.count}": world.outcome for world in launch.worlds}
    assert outcomes == dict.fromkeys(gpus[:-1], "refused") | {"H100-80GB:1": "passed"}
    assert all(world.depends_on == () for world in launch.worlds)
    for world in launch.worlds[:-1]:
        error = error_of(world)
        assert (error.type, error.wrapped_by) == ("ValueError", ())
        assert error.message.startswith(NEEDS_FA + "'")
        assert error.message.endswith("'." + OTHERS)
        site = error.site
        assert site is not None
        assert (site.path, site.line) == (path, line)
        assert site.function.rpartition(".")[2].strip("_") == "handle_prefill_only_disable_kv_cache"
    assert len({error_of(world).id for world in launch.worlds[:-1]}) == 1


def test_no_kv_cache_with_a_backend_that_cannot(checker: gonogo.Checker) -> None:
    command = f"{NO_KV_CACHE} {ASKED_FOR_FIRST} --attention-backend flashinfer"
    launch = only(checker.check(command, release="sglang==0.5.23", gpu="H100-80GB:1", models_dir=MODELS, hub=False))
    assert launch.verdict == "NO-GO"
    assert error_of(launch.worlds[0]).message == f"{NEEDS_FA}'flashinfer'.{OTHERS}"
