from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gonogo.problems import OwnProblem
from gonogo.releases.store import Store, files_on_disk, read_record, write_record


def test_a_record_is_written_at_once_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.json"
    write_record(path, {"a": 1})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(OSError, match="No space"):
        write_record(path, {"a": 2})
    assert read_record(path) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_publish_replaces(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for content in ("old", "new"):
        with store.partial("it") as workspace:
            made = workspace / "made"
            made.mkdir()
            (made / "file").write_text(content)
            store.publish(made, store.environment("it"))
    assert (store.environment("it") / "file").read_text() == "new"
    assert list((tmp_path / "partial").iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left, of_another = tmp_path / "partial" / "it~killed", tmp_path / "partial" / "item~alive"
    for folder in (left, of_another):
        folder.mkdir(parents=True)
    with Store(tmp_path).partial("it"):
        assert not left.exists()
    assert of_another.exists()


def test_what_is_old_is_removed_whatever_it_was(tmp_path: Path) -> None:
    left = tmp_path / "partial" / "removed~killed"
    left.mkdir(parents=True)
    os.utime(left, (0, 0))
    with Store(tmp_path).partial("it"):
        assert not left.exists()


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(OwnProblem) as caught, Store(tmp_path).writing("the thing"):
        raise OSError(28, "No space left on device")
    assert str(caught.value) == (
        f"no space left for the thing in the cache {tmp_path}: free some, or set GONOGO_CACHE to another folder"
    )


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 10_000)
    alone = sum(files_on_disk(tmp_path).values())
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    assert sum(files_on_disk(tmp_path).values()) == alone >= 10_000
