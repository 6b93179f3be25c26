from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.models.factfiles import is_fact, is_weight, read_folder, read_object, write_atomically
from gonogo.models.types import ModelFacts, WeightFacts
from gonogo.problems import OwnProblem, UsageProblem

from .conftest import write_model

# What the published repositories of Llama 3.1, Qwen3, DeepSeek R1, Mistral Small, bge-m3 and a diffusers pipeline hold.
FACTS = [
    "config.json", "generation_config.json", "tokenizer_config.json", "tokenizer.json", "tokenizer.model",
    "tokenizer.model.v3", "tekken.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", "vocab.txt",
    "merges.txt", "chat_template.json", "chat_template.jinja", "preprocessor_config.json", "processor_config.json",
    "video_preprocessor_config.json", "params.json", "hf_quant_config.json", "quantize_config.json",
    "quant_config.json", "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
    "1_Pooling/config.json", "adapter_config.json", "model_index.json", "model.safetensors.index.json",
    "consolidated.safetensors.index.json", "sentencepiece.bpe.model", "tiktoken.model", "qwen.tiktoken",
    "transformer/config.json", "scheduler/scheduler_config.json",
]  # fmt: skip
OTHERS = [
    "model.safetensors", "model-00001-of-00004.safetensors", "pytorch_model.bin", "consolidated.00.pth", "x.gguf",
    "modeling_deepseek.py", "configuration_deepseek.py", "README.md", ".gitattributes", "LICENSE",
    "original/params.json", "config.json.py", "a/b/config.json", "../config.json", "/config.json", "optimizer.pt",
    ".cache/config.json",
]  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_facts(name: str) -> None:
    assert is_fact(name)
    assert not is_weight(name)


@pytest.mark.parametrize("name", OTHERS)
def test_no_facts(name: str) -> None:
    assert not is_fact(name)


@given(st.text(alphabet="ab./\0", max_size=6), st.sampled_from([".py", ".safetensors", ".bin", ".gguf", ".pt", ".sh"]))
def test_never_weights_nor_code(stem: str, kind: str) -> None:
    assert not is_fact(stem + kind)
    assert not is_fact(f"{stem}/config{kind}")


def read(folder: Path, tmp_path: Path) -> ModelFacts | None:
    return read_folder(folder, "m", "folder", tmp_path / "cache")


def test_a_folder_without_weights_is_not_known_in_full(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", modeling__py="boom", merges__txt="")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text("{}")
    facts = read(folder, tmp_path)
    assert facts is not None
    assert facts.files == {
        "config.json": folder / "config.json",
        "merges.txt": folder / "merges.txt",
        "1_Pooling/config.json": folder / "1_Pooling/config.json",
    }
    assert facts.listed is None


def test_a_folder_with_weights_is(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", modeling__py="boom", model__safetensors=b"\0")
    (folder / ".cache").mkdir()
    (folder / ".cache/x").touch()
    (folder / "original").mkdir()
    (folder / "original/params.json").touch()
    facts = read(folder, tmp_path)
    assert facts is not None
    assert set(facts.files) == {"config.json"}
    assert facts.listed == frozenset({"config.json", "modeling.py", "model.safetensors", "original/params.json"})


@pytest.mark.parametrize(
    "files",
    [
        {"params__json": {"dim": 8, "n_layers": 2}}, {"adapter_config__json": {}}, {"model_index__json": {}},
        {"tokenizer__json": {}}, {"model-Q4__gguf": b""},
    ],
)  # fmt: skip
def test_models_without_a_config(tmp_path: Path, files: dict[str, object]) -> None:
    assert read(write_model(tmp_path / "m", config__json=None, **files), tmp_path) is not None


@pytest.mark.parametrize("files", [{}, {"README__md": "x"}, {"vocab__json": {}}, {"package__json": {}}])
def test_folders_that_are_no_models(tmp_path: Path, files: dict[str, object]) -> None:
    assert read(write_model(tmp_path / "m", config__json=None, **files), tmp_path) is None


BROKEN = [
    (b"", "is broken JSON"),
    (b'{"a": 1', "is broken JSON"),
    (b'{"a": 1}\0', "NUL"),
    (b"[]", "no object"),
    (b'"text"', "no object"),
    (b"null", "no object"),
    (b'\xff\xfe{"a": 1}', "not UTF-8"),
    (b"\xef\xbb\xbf{}", "is broken JSON"),  # json.load says so of a byte order mark too, in any engine
    (b"[" * 100_000, "can't read"),
    (b'{"a": ' + b"9" * 5000 + b"}", "can't read"),
    (b'{"a": "' + b"x" * (10 * 2**20) + b'"}', "larger than 10 MB"),
]


@pytest.mark.parametrize(("raw", "said"), BROKEN, ids=[said + str(n) for n, (_, said) in enumerate(BROKEN)])
def test_a_broken_config_is_named(tmp_path: Path, raw: bytes, said: str) -> None:
    folder = write_model(tmp_path / "m", config__json=raw)
    with pytest.raises(UsageProblem, match=said) as problem:
        read(folder, tmp_path)
    assert str(folder / "config.json") in str(problem.value)
    assert problem.value.exit_code == 2


@given(raw=st.binary(max_size=40))
def test_any_bytes_are_an_object_or_a_usage_problem(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(raw)
    try:
        assert read_object(path) == json.loads(raw)
    except UsageProblem:
        with pytest.raises((ValueError, AssertionError)):
            assert isinstance(json.loads(raw.decode()), dict)


WEIGHTS = {
    "parameters_total": 8030261248,
    "weight_bytes": 16060522496,
    "weight_bytes_without_mtp": 16060522496,
    "parameters_mtp": 0,
    "parameters_by_kind": {"attn": 1342177280},
    "source": "computed",
}
MISTRAL = {"dim": 4096, "n_layers": 32, "n_heads": 32, "vocab_size": 32768}


def test_weight_facts_are_read_and_not_shown(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", params__json=WEIGHTS, model__safetensors=b"")
    facts = read(folder, tmp_path)
    assert facts is not None
    assert facts.weights == WeightFacts(8030261248, 16060522496, 16060522496, "computed")
    assert "params.json" not in facts.files
    assert facts.listed == frozenset({"config.json", "model.safetensors"})


def test_weight_facts_that_nobody_knows(tmp_path: Path) -> None:
    params = {"parameters_total": None, "weight_bytes": "many", "source": "not computed"}
    facts = read(write_model(tmp_path / "m", params__json=params), tmp_path)
    assert facts is not None
    assert facts.weights == WeightFacts(None, None, None, "not computed")


def test_mistrals_own_params_are_shown_as_they_are(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", params__json=MISTRAL)
    facts = read(folder, tmp_path)
    assert facts is not None
    assert facts.files["params.json"] == folder / "params.json"
    assert facts.weights is None


def test_mistrals_params_are_shown_without_the_weight_facts_in_them(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", params__json=MISTRAL | WEIGHTS)
    facts = read(folder, tmp_path)
    again = read(folder, tmp_path)
    assert facts is not None
    assert json.loads(facts.files["params.json"].read_text()) == MISTRAL
    assert facts.weights is not None
    assert facts.weights.bytes == 16060522496
    assert again is not None
    assert again.files == facts.files
    assert [path.name for path in (tmp_path / "cache/params").iterdir()] == [facts.files["params.json"].name]


def test_broken_params_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"params\.json is broken JSON"):
        read(write_model(tmp_path / "m", params__json="{"), tmp_path)


def test_what_would_be_read_for_ever_is_left_out(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    os.mkfifo(folder / "tokenizer.json")
    (folder / "merges.txt").symlink_to("/dev/zero")
    (folder / "vocab.json").symlink_to(folder / "nowhere")
    (folder / "added_tokens.json").mkdir()
    facts = read(folder, tmp_path)
    assert facts is not None
    assert set(facts.files) == {"config.json"}


def test_a_fact_that_is_too_large_is_left_out(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", model__safetensors=b"")
    with (folder / "tokenizer.json").open("wb") as stream:
        stream.truncate(64 * 2**20 + 1)  # sparse: it takes no room
    facts = read(folder, tmp_path)
    assert facts is not None
    assert "tokenizer.json" not in facts.files
    assert facts.listed is not None
    assert "tokenizer.json" in facts.listed


def test_writing_where_one_cannot(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    with pytest.raises(OwnProblem, match="can't write to the cache"):
        write_atomically(tmp_path / "cache/params/x.json", b"{}")


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OwnProblem, match="No space left on device"):
        write_atomically(tmp_path / "x.json", b"{}")
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_is_readable_by_its_owner(tmp_path: Path) -> None:
    write_atomically(tmp_path / "x.json", b"{}")
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) & 0o600 == 0o600
