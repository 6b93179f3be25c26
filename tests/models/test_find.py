from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonogo.models.find import Models
from gonogo.models.types import WeightFacts
from gonogo.problems import UsageProblem

from .conftest import CONFIG, HubServer, write_model
from .test_hubcache import CONFIG_ONLY, WHOLE, cached


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "models-dir"
    for name in ("Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V3", "acme/Qwen3-8B", "tiny-llama"):
        write_model(folder / name, config__json={"is": name})
    (folder / "INDEX.tsv").touch()
    return folder


def offline(tmp_path: Path, **more: object) -> Models:
    environ = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    (tmp_path / "cwd").mkdir(exist_ok=True)
    options = {"folder": tmp_path / "cwd", "cache": tmp_path / "gonogo", "environ": environ} | more
    return Models(**options)  # type: ignore[arg-type]


def config(facts: object) -> object:
    assert facts is not None
    return json.loads(facts.files["config.json"].read_text())  # type: ignore[attr-defined]


def test_a_models_folder(tmp_path: Path, models_dir: Path) -> None:
    models = offline(tmp_path, models_dir=models_dir)
    facts = models.facts("Qwen/Qwen3-8B")
    assert facts is not None
    assert (facts.name, facts.origin, facts.listed) == ("Qwen/Qwen3-8B", "models folder", None)
    assert config(facts) == {"is": "Qwen/Qwen3-8B"}
    assert config(models.facts("tiny-llama")) == {"is": "tiny-llama"}
    assert models.facts("Qwen") is None
    assert models.notes == ["Qwen: no facts here, and the hub is not to be asked"]


def test_names_of_a_models_folder_in_any_case(tmp_path: Path, models_dir: Path) -> None:
    facts = offline(tmp_path, models_dir=models_dir).facts("deepseek-ai/deepseek-r1")
    assert config(facts) == {"is": "deepseek-ai/DeepSeek-R1"}
    assert facts is not None
    assert facts.name == "deepseek-ai/deepseek-r1"


def test_a_models_folder_laid_out_like_the_hub_cache(tmp_path: Path) -> None:
    cached(tmp_path / "hub", "org/model", files=WHOLE)
    facts = offline(tmp_path, models_dir=tmp_path / "hub").facts("org/model")
    assert facts is not None
    assert facts.origin == "models folder"


def test_the_order_of_sources(tmp_path: Path, hub_server: HubServer, environ: dict[str, str], models_dir: Path) -> None:
    name = "Qwen/Qwen3-8B"
    here = tmp_path / "cwd"
    hub_server.put(name)
    repository = cached(tmp_path / "hf/hub", name, files=WHOLE)
    write_model(here / name)

    def origin(models_dir: Path | None = None, mounted: dict[str, str] | None = None) -> str:
        models = Models(models_dir, mounted, folder=here, cache=tmp_path / "gonogo", environ=environ)
        facts = models.facts(name)
        assert facts is not None
        return f"{facts.origin} {json.loads(facts.files['config.json'].read_text()).get('is', '')}".strip()

    assert origin(models_dir, {name: "deepseek-ai/DeepSeek-V3"}) == "models folder deepseek-ai/DeepSeek-V3"
    assert origin(models_dir) == "models folder Qwen/Qwen3-8B"
    assert origin() == "folder"
    (here / name / "config.json").unlink()
    assert origin() == "hub cache"
    (repository / "refs/main").unlink()
    assert hub_server.seen == []
    assert origin() == "hub"
    assert hub_server.seen != []
    del hub_server.seen[:]
    assert origin() == "hub cache"
    assert hub_server.seen == []


def test_a_hub_cache_that_lacks_files_is_completed(
    tmp_path: Path, hub_server: HubServer, environ: dict[str, str]
) -> None:
    hub_server.put("org/model", files={"tokenizer.json": b"{}"})
    cached(tmp_path / "hf/hub", "org/model", files=CONFIG_ONLY)
    facts = Models(folder=tmp_path, cache=tmp_path / "gonogo", environ=environ).facts("org/model")
    assert facts is not None
    assert set(facts.files) == {"config.json", "tokenizer.json"}


def test_what_the_hub_cache_has_is_taken_where_the_hub_is_out_of_reach(tmp_path: Path, environ: dict[str, str]) -> None:
    cached(tmp_path / "hf/hub", "org/model", files=CONFIG_ONLY)
    models = Models(folder=tmp_path, cache=tmp_path / "gonogo", environ=environ | {"HF_ENDPOINT": "http://127.0.0.1:9"})
    facts = models.facts("org/model")
    assert facts is not None
    assert (facts.origin, facts.listed) == ("hub cache", None)
    assert len(models.notes) == 1
    assert "can't be reached" in models.notes[0]


@pytest.mark.parametrize("how", ["argument", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_asks_nobody(tmp_path: Path, hub_server: HubServer, environ: dict[str, str], how: str) -> None:
    hub_server.put("org/model")
    said = {} if how == "argument" else {how: "1"}
    models = Models(folder=tmp_path, cache=tmp_path / "g", hub=how != "argument", environ=environ | said)
    assert models.facts("org/model") is None
    assert models.facts("org/model") is None
    assert models.notes == ["org/model: no facts here, and the hub is not to be asked"]
    assert hub_server.seen == []


def test_each_name_is_asked_once(tmp_path: Path, hub_server: HubServer, environ: dict[str, str]) -> None:
    models = Models(folder=tmp_path, cache=tmp_path / "g", environ=environ)
    assert models.facts("no/body") is models.facts("no/body") is None
    assert sum("/api/models/no/body" in line for line in hub_server.seen) == 1
    assert models.notes == ["no/body is not on the hub, or is private: check the name, or set HF_TOKEN"]


def test_mounted_paths(tmp_path: Path, models_dir: Path) -> None:
    write_model(tmp_path / "disk/nested/qwen", config__json={"is": "on disk"})
    mounted = {"/models/r1": "deepseek-ai/deepseek-r1", "/data": tmp_path / "disk", "acme/ours": "tiny-llama"}
    models = offline(tmp_path, models_dir=models_dir, mounted=mounted)
    for word in ("/models/r1", "/models/r1/", "/models//r1"):
        for facts in (models.local(word), models.facts(word)):
            assert config(facts) == {"is": "deepseek-ai/DeepSeek-R1"}
            assert facts is not None
            assert facts.name == word
    assert config(models.local("/data/nested/qwen")) == {"is": "on disk"}
    assert config(models.facts("acme/ours")) == {"is": "tiny-llama"}
    assert models.notes == []
    assert models.local("/data/nested") is None
    assert models.local("/models/r1/eagle") is None
    assert models.local("/data/../etc") is None
    assert models.notes == [
        f"/data/nested: {tmp_path / 'disk/nested'} holds no model",
        "/models/r1/eagle: deepseek-ai/deepseek-r1 has no model in eagle",
    ]


def test_a_folder_inside_a_mounted_model(tmp_path: Path, models_dir: Path) -> None:
    write_model(models_dir / "Qwen/Qwen3-8B/draft", config__json={"is": "draft"})
    models = offline(tmp_path, models_dir=models_dir, mounted={"/m": "Qwen/Qwen3-8B"})
    assert config(models.local("/m/draft")) == {"is": "draft"}


def test_a_mounted_model_that_is_mounted_itself_does_not_go_round(tmp_path: Path) -> None:
    models = offline(tmp_path, mounted={"org/a": "org/b", "org/b": "org/a", "org/c": "org/c"})
    assert models.facts("org/a") is None
    assert models.facts("org/c") is None


def test_local_folders(tmp_path: Path) -> None:
    models = offline(tmp_path)
    write_model(tmp_path / "cwd/llama", config__json={"is": "llama"})
    (tmp_path / "cwd/serve").mkdir()
    for word in ("llama", "./llama/", str(tmp_path / "cwd/llama"), "../cwd/llama"):
        facts = models.local(word)
        assert config(facts) == {"is": "llama"}
        assert facts is not None
        assert (facts.name, facts.origin) == (word, "folder")
        assert config(models.facts(word)) == {"is": "llama"}
    assert models.local("serve") is None
    assert models.local("nowhere") is None
    assert models.notes == []


def test_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_model(tmp_path / "models/llama", config__json={"is": "home"})
    assert config(offline(tmp_path).local("~/models/llama")) == {"is": "home"}


def test_a_path_that_is_nowhere_says_what_to_do(tmp_path: Path) -> None:
    models = offline(tmp_path)
    assert models.facts("/models/llama") is None
    assert models.notes == [
        "/models/llama is neither a folder with a model nor a repository: say what it is with --model-facts"
    ]


def test_similar_models_are_not_the_model(tmp_path: Path, models_dir: Path) -> None:
    models = offline(tmp_path, models_dir=models_dir)
    for name in ("DeepSeek-R1", "DeepSeek-R1/", "./deepseek-r1/", "/root/models/DeepSeek-R1", "a/b/DeepSeek-R1"):
        assert models.facts(name) is None
        facts = models.similar(name)
        assert config(facts) == {"is": "deepseek-ai/DeepSeek-R1"}
        assert facts is not None
        assert facts.name == name
    # Two models end in Qwen3-8B: only who says more means one of them.
    assert models.similar("Qwen3-8B") is None
    assert config(models.similar("/data/Qwen/Qwen3-8B")) == {"is": "Qwen/Qwen3-8B"}
    assert config(models.similar("/x/models--acme--Qwen3-8B/snapshots/abc")) == {"is": "acme/Qwen3-8B"}
    # Another's model of that name is on the hub, and is not ours to guess.
    assert models.similar("unsloth/DeepSeek-R1") is None
    for name in ("", "/", "..", "x\0", "DeepSeek", "DeepSeek-R1-0528"):
        assert models.similar(name) is None
    assert offline(tmp_path).similar("DeepSeek-R1") is None


def test_a_models_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="--models-dir nowhere: no such folder"):
        offline(tmp_path, models_dir=Path("nowhere"))


@pytest.mark.parametrize("place", ["models-dir/Qwen/Qwen3-8B", "cwd/Qwen/Qwen3-8B"])
def test_a_broken_config_is_named(tmp_path: Path, place: str) -> None:
    write_model(tmp_path / place, config__json="{")
    (tmp_path / "models-dir").mkdir(exist_ok=True)
    with pytest.raises(UsageProblem, match=r"Qwen3-8B/config\.json is broken JSON"):
        offline(tmp_path, models_dir=tmp_path / "models-dir").facts("Qwen/Qwen3-8B")


def test_a_folder_of_somebody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    models = offline(tmp_path)
    write_model(tmp_path / "cwd/llama")
    monkeypatch.setattr(os, "scandir", denied)
    assert models.local("llama") is None
    assert models.notes == [f"llama: {tmp_path / 'cwd/llama'} can't be read: Permission denied"]


ODD = [
    "", ".", "..", "../..", "../../etc", "/", "~", "org/name/extra", "org//name", "a\0b", "\0", "\ud800", "\udcff", "-",
    "--x", "x" * 300, "org/" + "x" * 300, "x" * 70_000, "a/" * 3000, "s3://b/c", "http://x/y", "org/na me", "%2e%2e/x",
    "a\nb/c",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
def test_odd_names_are_no_models_and_no_failures(tmp_path: Path, models_dir: Path, name: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"is": "outside"}))
    models = offline(tmp_path, models_dir=models_dir)
    assert models.facts(name) is None or name.startswith(".")
    assert models.similar(name) is None
    models.local(name)
    assert all("\n" not in note and len(note) < 1000 for note in models.notes)


@settings(deadline=None)
@given(name=st.text(alphabet=st.sampled_from("aQ./~-\\\0 é\ud800"), max_size=12) | st.text(max_size=12))
def test_any_name_is_answered(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-name"
    write_model(folder / "models/a/Q")
    models = offline(folder, models_dir=folder / "models")
    facts = models.facts(name)
    assert facts is not None or models.notes
    inside = [path for path in (facts.files.values() if facts else ()) if path.name == "config.json"]
    assert facts is None or facts.origin == "folder" or all((folder / "models") in path.parents for path in inside)


def test_no_source_imports_huggingface_hub(tmp_path: Path, models_dir: Path) -> None:
    cached(tmp_path / "hf/hub", "org/model", files=WHOLE)
    code = (
        "import pathlib, sys; from gonogo.models.find import Models\n"
        f"models = Models(pathlib.Path({str(models_dir)!r}))\n"
        "assert models.facts('Qwen/Qwen3-8B') and models.facts('org/model').origin == 'hub cache'\n"
        "print({'huggingface_hub', 'requests', 'httpx', 'httpx2', 'subprocess', 'pydantic'} & set(sys.modules))"
    )
    environ = {**os.environ, "HF_HOME": str(tmp_path / "hf")}
    run = subprocess.run([sys.executable, "-c", code], env=environ, text=True, capture_output=True, check=True)
    assert run.stdout == "set()\n"


def test_weight_facts_of_a_models_folder(tmp_path: Path, models_dir: Path) -> None:
    write_model(models_dir / "org/heavy", params__json={"parameters_total": 7, "weight_bytes": 14, "source": "counted"})
    facts = offline(tmp_path, models_dir=models_dir).facts("org/heavy")
    assert facts is not None
    assert facts.weights == WeightFacts(7, 14, None, "counted")
    assert set(facts.files) == {"config.json"}
    assert config(facts) == CONFIG
