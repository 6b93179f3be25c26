from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gonogo.models import hub as hub_room
from gonogo.models.find import Models
from gonogo.models.hub import Hub
from gonogo.problems import UsageProblem

from .conftest import CONFIG, HubServer, commit_of


def ask(tmp_path: Path, environ: dict[str, str], name: str, revision: str | None = None, **times: float) -> Any:
    return Hub(tmp_path / "gonogo", environ=environ, **times).ask(name, revision)  # type: ignore[arg-type]


def test_facts_come_and_weights_and_code_do_not(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put(
        "meta-llama/Llama-3.1-8B-Instruct",
        files={"tokenizer.json": b"{}", "1_Pooling/config.json": b'{"pooling": 1}', "original/params.json": b"{}"},
    )
    answer = ask(tmp_path, environ, "meta-llama/Llama-3.1-8B-Instruct")
    assert answer.note is None
    assert answer.facts.origin == "hub"
    assert set(answer.facts.files) == {"config.json", "tokenizer.json", "1_Pooling/config.json"}
    assert json.loads(answer.facts.files["config.json"].read_text()) == CONFIG
    assert answer.facts.files["1_Pooling/config.json"].read_bytes() == b'{"pooling": 1}'
    assert answer.facts.listed == {
        "config.json", "tokenizer.json", "1_Pooling/config.json", "original/params.json", "model.safetensors",
        "modeling.py",
    }  # fmt: skip
    assert not any("safetensors" in line or ".py" in line for line in hub_server.seen)


def test_files_go_into_the_users_hub_cache(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    repository = hub_server.put("org/model")
    environ["HF_HUB_CACHE"] = str(tmp_path / "elsewhere")
    answer = ask(tmp_path, environ, "org/model")
    snapshot = tmp_path / "elsewhere/models--org--model/snapshots" / commit_of(repository.files)
    assert answer.facts.files["config.json"] == snapshot / "config.json"


def test_a_hub_cache_that_cannot_be_written_is_left_alone(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_server.put("org/model")
    (tmp_path / "hf").mkdir()
    ordinary = os.access
    # Tests may run as root, to whom everything can be written.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path / "hf" and ordinary(path, mode))
    answer = ask(tmp_path, environ, "org/model")
    assert (tmp_path / "gonogo") in answer.facts.files["config.json"].parents
    assert list((tmp_path / "hf").iterdir()) == []


def test_sizes_that_the_list_does_not_give_are_asked_for(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str]
) -> None:
    hub_server.put("org/model", with_sizes=False)
    assert set(ask(tmp_path, environ, "org/model").facts.files) == {"config.json"}


@pytest.mark.parametrize("with_sizes", [True, False])
def test_a_weight_in_a_facts_clothes_is_not_fetched(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, with_sizes: bool
) -> None:
    monkeypatch.setattr("gonogo.models.factfiles.LARGEST_FACT", 1000)
    hub_server.put("org/model", with_sizes=with_sizes, files={"tokenizer.json": b"x" * 1001, "vocab.txt": b"x" * 1000})
    answer = ask(tmp_path, environ, "org/model")
    assert set(answer.facts.files) == {"config.json", "vocab.txt"}
    assert "tokenizer.json" in answer.facts.listed
    assert answer.note is None
    assert not any(line.startswith("GET") and "tokenizer.json" in line for line in hub_server.seen)


def test_the_hub_knows_names_in_any_case(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("deepseek-ai/DeepSeek-R1")
    answer = ask(tmp_path, environ, "deepseek-ai/deepseek-r1")
    assert answer.facts.name == "deepseek-ai/deepseek-r1"
    assert "models--deepseek-ai--DeepSeek-R1" in answer.facts.files["config.json"].parts


def test_a_revision(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("org/model", revisions={"v2": {"config.json": b'{"model_type": "qwen3"}'}})
    facts = ask(tmp_path, environ, "org/model", "v2").facts
    assert json.loads(facts.files["config.json"].read_text()) == {"model_type": "qwen3"}
    assert facts.listed == {"config.json"}
    assert json.loads(ask(tmp_path, environ, "org/model").facts.files["config.json"].read_text()) == CONFIG
    gone = ask(tmp_path, environ, "org/model", "v3")
    assert gone.facts is None
    assert gone.note == "org/model has no such revision on the hub: check --revision"


def test_a_private_model_needs_its_token(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("acme/secret", token="hf_right")
    for token in ({}, {"HF_TOKEN": "hf_wrong"}):
        answer = ask(tmp_path, environ | token, "acme/secret")
        assert answer.facts is None
        assert answer.note == "acme/secret is not on the hub, or is private: check the name, or set HF_TOKEN"
    assert ask(tmp_path, environ | {"HF_TOKEN": "hf_right"}, "acme/secret").facts is not None
    (tmp_path / "hf/token").write_text("hf_right\n")
    assert ask(tmp_path, environ, "acme/secret").facts is not None


def test_a_gated_model_says_what_to_do(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("meta-llama/Llama-4", gated=True)
    answer = ask(tmp_path, environ, "meta-llama/Llama-4")
    assert answer.facts is None
    assert "is gated on the hub" in answer.note
    assert "HF_TOKEN" in answer.note


@pytest.mark.parametrize("token", [{}, {"HF_TOKEN": "hf_any"}])
def test_a_model_that_nobody_made(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str], token: dict[str, str]
) -> None:
    answer = ask(tmp_path, environ | token, "nobody/made-this")
    assert answer.facts is None
    assert answer.note == "nobody/made-this is not on the hub, or is private: check the name, or set HF_TOKEN"


@pytest.mark.parametrize(
    ("status", "said"), [(500, "HTTP 500"), (429, "HTTP 429"), (403, "HTTP 403"), (404, "HTTP 404")]
)
def test_a_hub_in_trouble(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str], status: int, said: str
) -> None:
    hub_server.status = status
    answer = ask(tmp_path, environ, "org/model")
    assert answer.facts is None
    assert said in answer.note


def test_a_login_page_is_no_hub(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.page = b"<html>Please log in to the hotel's network</html>"
    answer = ask(tmp_path, environ, "org/model")
    assert answer.facts is None
    assert "is no hub" in answer.note


def test_json_of_something_else_is_no_hub(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.page = b'{"hello": "world"}'
    answer = ask(tmp_path, environ, "org/model")
    assert answer.facts is None
    assert "is no hub" in answer.note


def test_no_network_is_said_once_and_not_tried_again(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environ["HF_ENDPOINT"] = "http://127.0.0.1:9"  # the discard port: nobody listens
    hub = Hub(tmp_path / "gonogo", environ=environ)
    first = hub.ask("org/one")
    assert first.facts is None
    assert str(first.note).startswith("org/one could not be had: the hub can't be reached (")
    monkeypatch.setattr(subprocess, "Popen", None)  # a process started from here on would be a TypeError
    second = hub.ask("org/two")
    assert second.facts is None
    assert str(second.note).startswith("org/two could not be had: the hub can't be reached (")


@pytest.mark.parametrize("endpoint", ["nonsense", "http://127.0.0.1:port", "ftp://127.0.0.1"])
def test_an_endpoint_that_is_none(tmp_path: Path, environ: dict[str, str], endpoint: str) -> None:
    answer = ask(tmp_path, environ | {"HF_ENDPOINT": endpoint}, "org/model")
    assert answer.facts is None
    assert answer.note
    assert "\n" not in answer.note


def test_a_hub_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str]
) -> None:
    hub_server.put("org/model")
    hub_server.hang = "/api/models/"
    answer = ask(tmp_path, environ, "org/model", answer_seconds=0.2)
    assert answer.facts is None
    assert answer.note == (
        "org/model could not be had: the hub did not answer within 0.2 seconds; give its facts with --models-dir"
    )


def test_a_file_that_does_not_come_leaves_the_others(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str]
) -> None:
    hub_server.put("org/model", files={"tokenizer.json": b"{}"})
    hub_server.hang = "tokenizer.json"
    answer = ask(tmp_path, environ, "org/model", files_seconds=3.0)
    assert set(answer.facts.files) == {"config.json"}
    assert "tokenizer.json" in answer.facts.listed
    assert answer.note.startswith("org/model: tokenizer.json could not be had")
    # Half an answer is no answer to remember.
    assert Hub(tmp_path / "gonogo", environ=environ).recorded("org/model") is None


def test_an_answer_is_remembered_for_a_day(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("org/model")
    asked = ask(tmp_path, environ, "org/model").facts
    hub = Hub(tmp_path / "gonogo", environ=environ)
    found = hub.recorded("Org/Model")
    assert found is not None
    assert (found.origin, found.files, found.listed) == ("hub cache", asked.files, asked.listed)
    assert hub.recorded("org/model", "v2") is None
    assert Hub(tmp_path / "gonogo", environ=environ | {"HF_ENDPOINT": "http://mirror"}).recorded("org/model") is None
    (record,) = (tmp_path / "gonogo/hub").iterdir()
    old = time.time() - hub_room.FRESH - 1
    os.utime(record, (old, old))
    assert hub.recorded("org/model") is None
    assert hub.recorded("org/model", any_age=True) is not None


def test_a_record_that_is_broken_is_asked_again(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("org/model")
    hub = Hub(tmp_path / "gonogo/models", environ=environ)
    hub.ask("org/model")
    (record,) = (tmp_path / "gonogo/models/hub").iterdir()
    for garbage in (b"", b"{", b"[]", b'{"files": 1, "listed": 2}', b'{"files": {}}', b"\0\xff"):
        record.write_bytes(garbage)
        assert hub.recorded("org/model") is None
    facts = Models(cache=tmp_path / "gonogo", environ=environ).facts("org/model")
    assert facts is not None
    assert facts.origin == "hub"


def test_a_record_whose_files_are_gone_is_asked_again(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str]
) -> None:
    hub_server.put("org/model")
    facts = ask(tmp_path, environ, "org/model").facts
    facts.files["config.json"].unlink()
    assert Hub(tmp_path / "gonogo", environ=environ).recorded("org/model") is None


def test_a_broken_config_is_named(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("org/model", files={"config.json": b'{"a": '})
    with pytest.raises(UsageProblem, match=r"config\.json is broken JSON"):
        ask(tmp_path, environ, "org/model")


def test_names_that_lead_outside_are_dropped(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put(
        "org/model", files={"../config.json": b"{}", "/etc/config.json": b"{}", "a/../../config.json": b"{}"}
    )
    facts = ask(tmp_path, environ, "org/model").facts
    assert facts.listed == {"config.json", "model.safetensors", "modeling.py"}


def test_what_lies_in_the_working_folder_is_not_run(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_server.put("org/model")
    for name in ("huggingface_hub", "json", "types", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w'); raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert ask(tmp_path, environ, "org/model").facts is not None
    assert not (tmp_path / "mark").exists()


def test_two_at_once_and_one_killed(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("org/model", files={"tokenizer.json": b"x" * 100_000})
    code = (
        "import os, pathlib; from gonogo.models.hub import Hub;"
        f"print(Hub(pathlib.Path({str(tmp_path / 'gonogo')!r}), environ=os.environ).ask('org/model'))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    running[0].kill()
    texts = [one.communicate()[0] for one in running]
    assert all("note=None" in text for text in texts[1:])
    facts = ask(tmp_path, environ, "org/model").facts
    assert facts.files["tokenizer.json"].read_bytes() == b"x" * 100_000


def test_a_full_disk_still_gives_the_facts(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    hub_server.put("org/model")
    (tmp_path / "gonogo").write_text("a file where gonogo's cache should be")
    assert ask(tmp_path, environ, "org/model").facts is not None


def test_huggingface_hub_falling_over_is_told(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "ask.py"
    broken.write_text("raise ImportError('huggingface_hub is half installed')")
    monkeypatch.setattr(hub_room, "_ASK", broken)
    answer = ask(tmp_path, environ, "org/model")
    assert answer.facts is None
    assert "ImportError: huggingface_hub is half installed" in answer.note
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    assert "Python could not be started" in ask(tmp_path, environ, "org/model").note
