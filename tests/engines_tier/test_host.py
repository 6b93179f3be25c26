"""The same launches on machines that differ give the same answers, to the byte: of the child's own words, all of them."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gonogo.places import cache_folder
from tests.test_bad_input import can_unshare

pytestmark = pytest.mark.engines

PROBE = str(Path(__file__).with_name("host_probe.py"))
ENGINES = [("vllm", "0.32.0"), ("sglang", "0.5.23")]
COUNT = 16
EMPTY_PROC = "mount -t tmpfs none /proc && mount -t tmpfs none /sys"
Usual = Callable[[str, str], bytes]
#: A user's shell full of everything that the engines and their libraries read.
SHELL = {
    "VLLM_PORT": "tcp://10.0.0.1:80",
    "VLLM_USE_V1": "0",
    "VLLM_ATTENTION_BACKEND": "NONSENSE",
    "VLLM_LOGGING_LEVEL": "DEBUG",
    "VLLM_TARGET_DEVICE": "tpu",
    "VLLM_PLUGINS": "nobody",
    "VLLM_CONFIG_ROOT": "/nowhere",
    "VLLM_USE_MODELSCOPE": "1",
    "SGLANG_USE_MODELSCOPE": "1",
    "SGLANG_ENABLE_DETERMINISTIC_INFERENCE": "1",
    "SGLANG_USE_CPU_ENGINE": "1",
    "SGLANG_DISAGGREGATION_NIXL_BACKEND": "x",
    "CUDA_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "",
    "ROCR_VISIBLE_DEVICES": "",
    "CUDA_HOME": "/nowhere",
    "NVIDIA_VISIBLE_DEVICES": "none",
    "HF_HUB_OFFLINE": "1",
    "HF_TOKEN": "not-a-token",
    "TRANSFORMERS_VERBOSITY": "debug",
    "RANK": "3",
    "WORLD_SIZE": "9",
    "LOCAL_RANK": "1",
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "PYTHONPATH": "/nowhere",
    "PYTHONHASHSEED": "77",
    "PYTHONWARNINGS": "error",
    "PYTHONOPTIMIZE": "2",
    "OMP_NUM_THREADS": "77",
    "COLUMNS": "20",
    "NO_COLOR": "1",
    "TZ": "Asia/Kathmandu",
}


def probe(
    engine: str,
    version: str,
    *machine: int,
    before: Sequence[str] = (),
    folder: Path | None = None,
    env: dict[str, str] | None = None,
    prepare: Callable[[], None] | None = None,
) -> bytes:
    words = [*before, sys.executable, PROBE, engine, version, str(COUNT), *map(str, machine)]
    kept = {"PATH": os.environ["PATH"], "GONOGO_CACHE": str(cache_folder()), "HOME": str(Path.home())}
    done = subprocess.run(
        words, cwd=folder or "/", env={**kept, **(env or {})}, preexec_fn=prepare, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def usual() -> Usual:
    known: dict[tuple[str, str], bytes] = {}

    def of(engine: str, version: str) -> bytes:
        if (engine, version) not in known:
            known[engine, version] = probe(engine, version)
        return known[engine, version]

    return of


def same(got: bytes, expected: bytes) -> None:
    """Byte equality, told by the first launch that differs."""
    if got != expected:
        for one, other in zip(json.loads(got), json.loads(expected), strict=True):
            assert one == other
    assert got == expected


def limited() -> None:
    """A shell with small limits, bound to one CPU."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 256))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 22))
    os.umask(0o077)
    os.nice(5)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@pytest.mark.parametrize(("engine", "version"), ENGINES)
def test_a_small_machine(usual: Usual, engine: str, version: str) -> None:
    same(probe(engine, version, 1, 16 << 30, env={"LC_ALL": "C"}, prepare=limited), usual(engine, version))


@pytest.mark.parametrize(("engine", "version"), ENGINES)
def test_a_large_machine(usual: Usual, engine: str, version: str) -> None:
    locale = {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}
    same(probe(engine, version, 256, 2 << 40, env=locale), usual(engine, version))


@pytest.mark.parametrize(("engine", "version"), ENGINES)
def test_the_users_shell_and_folder(usual: Usual, engine: str, version: str, tmp_path: Path) -> None:
    # What Python's import would find in the folder, and what the engine would, were it there.
    (tmp_path / "json.py").write_text("raise SystemExit('not me')")
    (tmp_path / "models").mkdir()
    (tmp_path / "vllm").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    same(probe(engine, version, folder=tmp_path, env={**SHELL, "HOME": str(home)}), usual(engine, version))
    assert not list(home.iterdir())


@pytest.mark.skipif(not can_unshare("-rm", then=EMPTY_PROC), reason="unshare may not mount here")
@pytest.mark.parametrize(("engine", "version"), ENGINES)
def test_without_proc(usual: Usual, engine: str, version: str) -> None:
    # No /proc/self/maps, no /proc/meminfo, no /sys: a hardened container.
    words = ["unshare", "-rm", "bash", "-c", f'{EMPTY_PROC} && exec "$@"', "bash"]
    same(probe(engine, version, before=words), usual(engine, version))
