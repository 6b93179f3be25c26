"""Launches that bring code along, on real engines: none of it runs, nobody is called, nothing is written.

Every planted file would leave a mark. The tests of tests/dryrun/test_walls.py attack from within; these come as a launch.
"""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import gonogo
from gonogo.places import cache_folder

pytestmark = pytest.mark.engines

LLAMA = Path(__file__).parents[1] / "data" / "models" / "tiny-llama"
SERVE = {
    "vllm==0.33.0": ["vllm", "serve"],
    "sglang==0.5.23": ["python", "-m", "sglang.launch_server", "--model-path"],
}
VLLM, SGLANG = SERVE


@dataclass
class Trap:
    """A folder full of code that marks its having run, and a user's home that nobody has reason to touch."""

    checker: gonogo.Checker
    folder: Path
    mark: Path
    code: Path
    home: Path

    def check(
        self, release: str, *words: str, env: dict[str, str] | None = None, model: str = ""
    ) -> gonogo.LaunchResult:
        """The result of a launch from the folder of the trap."""
        line = [*SERVE[release], model or str(LLAMA), *words]
        (launch,) = self.checker.check(line, env=env or {}, release=release, gpu="H100-80GB:1", hub=False).launches
        return launch


@pytest.fixture(scope="module")
def checker() -> Iterator[gonogo.Checker]:
    with gonogo.Checker(remember=False) as made:
        yield made


@pytest.fixture
def trap(checker: gonogo.Checker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    mark, code, home = tmp_path / "mark", tmp_path / "code", tmp_path / "home"
    for folder in (code, home):
        folder.mkdir()
    body = f"import posix\nposix.close(posix.open({str(mark)!r}, posix.O_CREAT | posix.O_WRONLY))\n"
    body += "class Worker: pass\nclass Plugin: pass\ndef register(): pass\n"
    for name in (
        "evil.py",
        "sitecustomize.py",
        "usercustomize.py",
        "modeling_evil.py",
        "torch.py",
        "json.py",
        "vllm_evil.py",
    ):
        (code / name).write_text(body)
    entry = code / "vllm_evil-1.0.dist-info"
    entry.mkdir()
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm-evil\nVersion: 1.0\n")
    groups = ("vllm.general_plugins", "vllm.platform_plugins", "sglang.srt.plugins", "sglang.srt.platforms")
    (entry / "entry_points.txt").write_text("".join(f"[{name}]\nevil = vllm_evil:register\n" for name in groups))
    before = {path: path.read_bytes() for path in code.rglob("*") if path.is_file()}
    monkeypatch.setenv("GONOGO_CACHE", str(cache_folder()))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(code)
    yield Trap(checker, tmp_path, mark, code, home)
    assert not mark.exists()
    assert {path: path.read_bytes() for path in code.rglob("*") if path.is_file()} == before
    assert not list(home.iterdir())


def outcome(launch: gonogo.LaunchResult) -> tuple[str, str]:
    """The verdict, and why or what was said."""
    (world,) = launch.worlds
    return launch.verdict, world.reason or (world.error.message if world.error else "")


@pytest.mark.parametrize("release", SERVE)
@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "LD_PRELOAD", "LD_AUDIT"]
)
def test_a_variable_that_brings_code(trap: Trap, release: str, name: str) -> None:
    verdict, reason = outcome(trap.check(release, env={name: str(trap.code)}))
    assert verdict == "HOLD"
    assert name in reason


@pytest.mark.parametrize(
    ("release", "name"), [(VLLM, "VLLM_PLUGINS"), (SGLANG, "SGLANG_PLUGINS"), (SGLANG, "SGLANG_PLATFORM")]
)
def test_a_plugin_that_a_launch_names(trap: Trap, release: str, name: str) -> None:
    verdict, reason = outcome(trap.check(release, env={name: "evil"}))
    assert verdict == "HOLD"
    assert name in reason


@pytest.mark.parametrize("release", SERVE)
def test_the_models_own_code(trap: Trap, release: str) -> None:
    model = trap.folder / "model"
    shutil.copytree(LLAMA, model)
    config = json.loads((model / "config.json").read_text())
    config |= {
        "model_type": "evil",
        "architectures": ["EvilForCausalLM"],
        "auto_map": {"AutoConfig": "modeling_evil.Worker", "AutoModelForCausalLM": "modeling_evil.Worker"},
    }
    (model / "config.json").write_text(json.dumps(config))
    shutil.copy(trap.code / "modeling_evil.py", model)
    trusted = outcome(trap.check(release, "--trust-remote-code", model=str(model)))
    not_trusted = outcome(trap.check(release, model=str(model)))
    assert trusted[0] == "HOLD"
    assert "code" in trusted[1]
    assert not_trusted[0] in ("HOLD", "NO-GO")


NAMED = {
    VLLM: [
        ["--worker-cls", "evil.Worker"],
        ["--worker-extension-cls", "evil.Worker"],
        ["--scheduler-cls", "evil.Worker"],
        ["--distributed-executor-backend", "evil.Worker"],
        ["--logits-processors", "evil:Worker"],
        ["--tool-parser-plugin", "evil.py", "--enable-auto-tool-choice", "--tool-call-parser", "evil"],
        ["--reasoning-parser-plugin", "evil.py", "--reasoning-parser", "evil"],
        ["--middleware", "evil.Worker"],
        ["--io-processor-plugin", "evil"],
        ["--kv-transfer-config", '{"kv_connector":"E","kv_role":"kv_both","kv_connector_module_path":"evil"}'],
        ["--hf-overrides", '{"auto_map":{"AutoConfig":"evil.Worker"}}', "--trust-remote-code"],
        ["--config", "evil.py"],
    ],
    SGLANG: [
        ["--tool-call-parser", "evil"],
        ["--reasoning-parser", "evil.py"],
        ["--load-format", "evil"],
        ["--custom-weight-loader", "evil.Worker"],
        ["--tokenizer-path", ".", "--trust-remote-code"],
        ["--json-model-override-args", '{"auto_map":{"AutoConfig":"evil.Worker"}}', "--trust-remote-code"],
        ["--config", "evil.py"],
    ],
}


@pytest.mark.parametrize(
    ("release", "words"),
    [(release, words) for release, rows in NAMED.items() for words in rows],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_code_that_a_flag_names(trap: Trap, release: str, words: list[str]) -> None:
    verdict, reason = outcome(trap.check(release, *words))
    assert verdict in ("GO", "HOLD", "NO-GO")
    assert "gonogo's own" not in reason


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An HTTP address that notes who calls."""
    calls: list[str] = []
    server = socket.create_server(("127.0.0.1", 0))

    def take() -> None:
        while True:
            try:
                connection, address = server.accept()
            except OSError:
                return
            calls.append(str(address))
            connection.close()

    threading.Thread(target=take, daemon=True).start()
    yield f"127.0.0.1:{server.getsockname()[1]}", calls
    server.close()


@pytest.mark.parametrize("release", SERVE)
def test_a_launch_calls_nobody(trap: Trap, release: str, listener: tuple[str, list[str]]) -> None:
    place, calls = listener
    host, port = place.split(":")
    flags = {
        VLLM: [
            "--data-parallel-address",
            host,
            "--data-parallel-rpc-port",
            port,
            "--otlp-traces-endpoint",
            f"http://{place}",
        ],
        SGLANG: ["--dist-init-addr", place, "--nnodes", "1", "--otlp-traces-endpoint", place],
    }
    env = {"HF_ENDPOINT": f"http://{place}", "HTTP_PROXY": f"http://{place}", "HTTPS_PROXY": f"http://{place}"}
    outcome(trap.check(release, *flags[release], env=env))
    outcome(trap.check(release, env=env, model=f"http://{place}/model"))
    outcome(trap.check(release, env=env, model=f"s3://{place}/model"))
    with socket.create_connection((host, int(port)), 5):
        pass  # the listener does listen
    assert len(calls) <= 1
