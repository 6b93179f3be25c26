from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gonogo.models.hubcache import cache_folder, is_complete, is_offline, read
from gonogo.problems import UsageProblem

from .conftest import CONFIG

COMMIT = "0e9e39f249a16976918f6564b8830bc894c89659"


def cached(folder: Path, name: str, *, files: dict[str, bytes], commit: str = COMMIT, ref: str | None = "main") -> Path:
    """A repository in the hub cache, in the layout that the hub's documentation describes."""
    repository = folder / ("models--" + name.replace("/", "--"))
    (repository / "blobs").mkdir(parents=True, exist_ok=True)
    for number, (file, content) in enumerate(files.items()):
        blob = repository / "blobs" / f"{number:040x}"
        blob.write_bytes(content)
        place = repository / "snapshots" / commit / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(blob)
    if ref:
        (repository / "refs" / ref).parent.mkdir(parents=True, exist_ok=True)
        (repository / "refs" / ref).write_text(commit)
    return repository


CONFIG_ONLY = {"config.json": json.dumps(CONFIG).encode()}
WHOLE = CONFIG_ONLY | {".gitattributes": b"", "model.safetensors": b"", "tokenizer.json": b"{}", "modeling.py": b""}


def test_what_was_downloaded_as_a_whole_is_complete(tmp_path: Path) -> None:
    repository = cached(tmp_path, "org/Model", files=WHOLE)
    facts = read(tmp_path, "org/Model")
    assert facts is not None
    assert facts.name == "org/Model"
    assert facts.origin == "hub cache"
    assert facts.files == {name: repository / "snapshots" / COMMIT / name for name in ("config.json", "tokenizer.json")}
    assert facts.listed == frozenset(WHOLE)
    assert is_complete(facts)


def test_what_an_engine_fetched_file_by_file_is_not(tmp_path: Path) -> None:
    repository = cached(tmp_path, "org/model", files=CONFIG_ONLY | {"model.safetensors": b""})
    none = repository / ".no_exist" / COMMIT / "chat_template.json"
    none.parent.mkdir(parents=True)
    none.touch()
    facts = read(tmp_path, "org/model")
    assert facts is not None
    assert facts.listed is None
    assert facts.absent == {"chat_template.json"}
    assert not is_complete(facts)


def test_the_librarys_own_list_of_files_is_used(tmp_path: Path) -> None:
    repository = cached(tmp_path, "org/model", files=CONFIG_ONLY)
    tree = repository / "trees" / f"{COMMIT}.json"
    tree.parent.mkdir()
    entry = {"size": 1, "blob_id": "0"}
    tree.write_text(json.dumps({"format_version": 1, "files": {"config.json": entry, "model.safetensors": entry}}))
    facts = read(tmp_path, "org/model")
    assert facts is not None
    assert facts.listed == frozenset({"config.json", "model.safetensors"})
    assert is_complete(facts)
    tree.write_text(json.dumps({"format_version": 1, "files": {"config.json": entry, "tokenizer.json": entry}}))
    facts = read(tmp_path, "org/model")
    assert facts is not None
    assert not is_complete(facts)
    for unknown in ('{"format_version": 2, "files": {}}', "{", "[]", '{"format_version": 1}'):
        tree.write_text(unknown)
        facts = read(tmp_path, "org/model")
        assert facts is not None
        assert facts.listed is None


def test_names_in_another_case(tmp_path: Path) -> None:
    cached(tmp_path, "deepseek-ai/DeepSeek-R1", files=WHOLE)
    facts = read(tmp_path, "deepseek-ai/deepseek-r1")
    assert facts is not None
    assert facts.name == "deepseek-ai/deepseek-r1"


def test_revisions(tmp_path: Path) -> None:
    other = "1" * 40
    cached(tmp_path, "org/model", files=WHOLE)
    cached(tmp_path, "org/model", files={"config.json": b'{"v": 2}'}, commit=other, ref="refs/pr/7")
    for revision in ("refs/pr/7", other):
        facts = read(tmp_path, "org/model", revision)
        assert facts is not None
        assert facts.files["config.json"].read_bytes() == b'{"v": 2}'
    for revision in ("v9", "../../x", "/etc/passwd", "..", "a\0b", "2" * 40, "x" * 5000):
        assert read(tmp_path, "org/model", revision) is None


def test_what_is_not_there(tmp_path: Path) -> None:
    assert read(tmp_path / "nowhere", "org/model") is None
    assert read(tmp_path, "org/model") is None
    repository = cached(tmp_path, "org/model", files=CONFIG_ONLY)
    (repository / "refs/main").write_text("../../..")
    assert read(tmp_path, "org/model") is None
    (repository / "refs/main").write_bytes(b"\xff\0")
    assert read(tmp_path, "org/model") is None


def test_a_file_whose_blob_is_gone(tmp_path: Path) -> None:
    repository = cached(tmp_path, "org/model", files=WHOLE)
    (repository / "snapshots" / COMMIT / "tokenizer.json").resolve().unlink()
    facts = read(tmp_path, "org/model")
    assert facts is not None
    assert set(facts.files) == {"config.json"}
    assert not is_complete(facts)


def test_a_broken_config_is_named(tmp_path: Path) -> None:
    cached(tmp_path, "org/model", files=WHOLE | {"config.json": b"{"})
    with pytest.raises(UsageProblem, match=r"config\.json is broken JSON"):
        read(tmp_path, "org/model")


ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"HF_HOME": "/data/hf"},
    {"HF_HUB_CACHE": "/data/hub", "HF_HOME": "/data/hf"},
    {"HUGGINGFACE_HUB_CACHE": "/data/old"},
    {"XDG_CACHE_HOME": "/data/xdg"},
    {"HF_HOME": "~/hf"},
    {"HF_HUB_CACHE": "$PLACE/hub", "PLACE": "/data/place"},
    {"HF_HUB_OFFLINE": "1"},
    {"HF_HUB_OFFLINE": "0"},
    {"HF_HUB_OFFLINE": "yes"},
    {"HF_HUB_OFFLINE": "no"},
    {"TRANSFORMERS_OFFLINE": "true"},
]


def test_the_place_is_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked of huggingface_hub itself, which reads its variables when it is imported."""
    code = (
        "import json, os, sys\n"
        "for environ in json.load(sys.stdin):\n"
        "    os.environ.clear(); os.environ.update(environ, HOME='/home/user')\n"
        "    for name in [n for n in sys.modules if n == 'huggingface_hub.constants']: del sys.modules[name]\n"
        "    from importlib import import_module\n"
        "    constants = import_module('huggingface_hub.constants')\n"
        "    print(json.dumps([constants.HF_HUB_CACHE, constants.HF_HUB_OFFLINE]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(ENVIRONMENTS), text=True, capture_output=True, check=True
    )
    theirs = [json.loads(line) for line in run.stdout.splitlines()]
    monkeypatch.setenv("HOME", "/home/user")
    ours = []
    for environ in ENVIRONMENTS:
        with monkeypatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            ours.append([str(cache_folder(environ)), is_offline(environ)])
    assert ours == theirs
