"""What a user, a machine or a network can do to gonogo: one clear line, the right exit code, nothing broken after."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gonogo import OwnProblem
from gonogo.places import cache_folder
from gonogo.releases import Releases
from tests.releases.package_index import PackageIndex
from tests.tiny_engine import Done, Place, make_index, new_place, release

GO = ("check", "--release", "vllm==0.32.0", "--gpu", "cpu", "--", "vllm", "serve", "x")


@pytest.fixture
def own_place(tmp_path: Path) -> Place:
    """A place without a cache, and with an index of its own."""
    return new_place(tmp_path / "place", make_index(), None)


def works(place: Place, **changed: str | None) -> None:
    done = place.run(*GO, env=changed)
    assert (done.code, done.err) == (0, ""), done


def in_namespaces(place: Place, unshare: list[str], prepare: str, *words: str) -> Done:
    """gonogo in namespaces of its own, after ``prepare`` has been run there by a shell."""
    line = f'set -e; {prepare}; exec "$0" -m gonogo "$@"'
    command = ["unshare", *unshare, "bash", "-c", line, sys.executable, *words]
    env = place.environment()
    done = subprocess.run(command, env=env, cwd=place.folder, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def can_unshare(*options: str, then: str = "true") -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", *options, "bash", "-c", then], capture_output=True, check=False).returncode == 0


def can_mount() -> bool:
    return can_unshare("-m", then="mount -t tmpfs none /mnt")


# -- releases


def test_a_release_that_does_not_exist(place: Place) -> None:
    done = place.run("check", "--release", "vllm==9.9", "--gpu", "cpu", "--", "vllm", "serve", "x")
    done.says(2, "there is no release vllm 9.9; there are 0.33.0, 0.32.0")
    place.run("releases", "fetch", "vllm==9.9").says(2, "there is no release vllm 9.9")
    works(place)


def test_a_release_that_needs_another_python(own_place: Place) -> None:
    own_place.index.add("vllm", "vllm-0.34.0.tar.gz", release("0.34.0"), python=">=3.99")
    done = own_place.run("check", "--release", "vllm==0.34.0", "--gpu", "cpu", "--", "vllm", "serve", "x")
    done.says(2, "vllm 0.34.0 needs Python >=3.99", "install one that fits")
    works(own_place)


def test_an_archive_that_is_no_archive(own_place: Place) -> None:
    own_place.index.add("vllm", "vllm-0.34.0.tar.gz", b"<html>please log in</html>")
    done = own_place.run("releases", "fetch", "vllm==0.34.0")
    done.says(4, "vllm-0.34.0.tar.gz cannot be unpacked")
    assert list((own_place.cache / "partial").iterdir()) == []
    assert own_place.run("releases").out.startswith("no release in the cache")
    works(own_place)


def test_an_index_that_fails(own_place: Place) -> None:
    own_place.index.status = 503
    own_place.run(*GO).says(4, "cannot reach the package index", "503")
    own_place.index.status = None
    works(own_place)


# -- no network


def test_no_network_and_nothing_cached(own_place: Place) -> None:
    own_place.index.go_down()
    own_place.run(*GO).says(4, "cannot reach the package index", "check the network")
    own_place.run("check", "--gpu", "cpu", "--", "vllm", "serve", "x").says(4, "cannot reach the package index")
    own_place.run("releases", "list", "vllm").says(4, "cannot reach the package index")
    told = json.loads(own_place.run(*GO[:-4], "--json", *GO[-4:]).out)
    assert told["error"]["exit_code"] == 4


def test_no_network_and_the_release_in_the_cache(own_place: Place) -> None:
    works(own_place)
    own_place.index.go_down()
    (own_place.cache / "listings" / "vllm.json").unlink()
    shutil.rmtree(own_place.cache / "outcomes")
    works(own_place)
    done = own_place.run("check", "--gpu", "cpu", "--json", "--", "vllm", "serve", "x")
    (launch,) = json.loads(done.out)["launches"]
    assert [world["release"] for world in launch["worlds"]] == ["0.32.0"]
    assert any("vllm 0.32.0 is the newest in the cache" in line for line in launch["assumed"])


@pytest.mark.skipif(not can_unshare("-n"), reason="needs a network namespace")
def test_no_network_at_all(place: Place, bare_place: Place) -> None:
    done = in_namespaces(place, ["-n"], "unset UV_DEFAULT_INDEX", *GO)
    assert (done.code, done.err) == (0, "")
    in_namespaces(bare_place, ["-n"], "unset UV_DEFAULT_INDEX", *GO).says(4, "cannot reach the package index")


# -- disks


@pytest.mark.skipif(not can_mount(), reason="needs to mount a file system")
@pytest.mark.parametrize("size", ["4k", "16k", "40k"])
def test_a_full_disk_while_a_release_is_fetched(bare_place: Place, size: str) -> None:
    bare_place.cache.mkdir()
    mount = f'mount -t tmpfs -o size={size} none "$GONOGO_CACHE"'
    done = in_namespaces(bare_place, ["-m"], mount, *GO)
    done.says(4, "no space left for", "set GONOGO_CACHE to another folder")
    works(bare_place)


def test_a_full_disk_while_a_release_is_fetched_simulated(own_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_options: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("UV_DEFAULT_INDEX", own_place.index.address)
    monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.raises(OwnProblem, match="no space left for vllm") as caught:
        Releases(own_place.cache).get("vllm", "0.32.0")
    assert "\n" not in str(caught.value)
    works(own_place)


@pytest.mark.skipif(not can_mount(), reason="needs to mount a file system")
def test_a_full_disk_while_an_outcome_is_remembered(place: Place) -> None:
    fill = (
        'cp -r "$GONOGO_CACHE" "$TMPDIR/copy"; mount -t tmpfs -o size=4m none "$GONOGO_CACHE";'
        'cp -r "$TMPDIR"/copy/* "$GONOGO_CACHE"; rm -r "$TMPDIR/copy";'
        'cat /dev/zero >"$GONOGO_CACHE/fill" 2>/dev/null || true'
    )
    done = in_namespaces(place, ["-m"], fill, *GO)
    assert (done.code, done.err) == (0, "")


@pytest.mark.skipif(not can_mount(), reason="needs to mount a file system")
@pytest.mark.parametrize("size", ["4k", "24k"])
def test_a_full_disk_for_temporary_files(place: Place, size: str) -> None:
    done = in_namespaces(place, ["-m"], f'mount -t tmpfs -o size={size} none "$TMPDIR"', *GO)
    done.says(4, "No space left on device")
    works(place)


@pytest.mark.skipif(not can_mount(), reason="needs to mount a file system")
def test_a_cache_that_can_only_be_read(place: Place, bare_place: Place) -> None:
    bare_place.cache.mkdir()
    mount = 'mount --bind "$GONOGO_CACHE" "$GONOGO_CACHE"; mount -o remount,ro,bind "$GONOGO_CACHE"'
    done = in_namespaces(place, ["-m"], mount, *GO)
    assert (done.code, done.err) == (0, "")
    newest = in_namespaces(
        place, ["-m"], mount, "check", "--gpu", "cpu", "--release", "vllm", "--", "vllm", "serve", "x"
    )
    newest.says(4, "Read-only file system", "set GONOGO_CACHE to a folder that can be written")
    in_namespaces(place, ["-m"], mount, "releases", "remove", "vllm==0.32.0").says(4, "Read-only file system")
    in_namespaces(bare_place, ["-m"], mount, *GO).says(4, "Read-only file system", "set GONOGO_CACHE to a folder")
    works(place)


def test_a_listing_that_cannot_be_kept_is_used_all_the_same(place: Place) -> None:
    (place.cache / "listings" / "vllm.json").unlink()
    (place.cache / "listings").rmdir()
    (place.cache / "listings").write_text("a file in the way")
    assert place.run("releases", "list", "vllm").out.split()[:2] == ["vllm", "0.33.0"]
    works(place)


@pytest.mark.parametrize("cache", ["/dev/null", "/proc/none"])
def test_a_cache_that_is_no_folder(bare_place: Place, cache: str) -> None:
    done = bare_place.run(*GO, env={"GONOGO_CACHE": cache})
    done.says(4, f"in the cache {cache}", "set GONOGO_CACHE to a folder that can be written")


# -- a cache that is damaged

Damage = Callable[[Path], None]


def truncated(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def garbled(file: Path) -> None:
    file.write_bytes(bytes(255 - byte for byte in file.read_bytes()))


def nonsense(file: Path) -> None:
    file.write_text('{"layout": 1, "models": 1, "words": 7, "releases": [{}], "installed": [], "make": 0}')


def gone(file: Path) -> None:
    file.unlink()


RECORDS = [
    *("listings/vllm.json", "releases/vllm-0.32.0/record.json", "releases/vllm-0.32.0/environment-*.json"),
    *("environments/*/record.json", "outcomes/*/*.json"),
]


@pytest.fixture(scope="module")
def checked(tiny_index: PackageIndex, tiny_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A cache in which a check has been made, and how that check ended."""
    place = new_place(tmp_path_factory.mktemp("checked") / "place", tiny_index, tiny_cache)
    done = place.run(*GO)
    assert done.code == 0
    return place.cache, done


@pytest.mark.parametrize("pattern", RECORDS)
@pytest.mark.parametrize("damage", [truncated, garbled, nonsense, gone])
def test_a_damaged_record_is_made_anew(
    checked: tuple[Path, Done], tiny_index: PackageIndex, tmp_path: Path, pattern: str, damage: Damage
) -> None:
    cache, before = checked
    place = new_place(tmp_path / "place", tiny_index, cache)
    files = list(place.cache.glob(pattern))
    assert files
    for file in files:
        damage(file)
    assert place.run("releases").code == 0
    if "outcomes" not in pattern:
        shutil.rmtree(place.cache / "outcomes")
    assert place.run(*GO) == before
    assert place.run("releases").out.startswith("vllm 0.32.0 ")


@pytest.mark.parametrize(
    "pattern", ["releases/vllm-0.32.0/tree", "environments/*/site", "environments/*", "environments"]
)
def test_a_folder_that_is_gone_is_fetched_again(place: Place, pattern: str) -> None:
    before = place.run(*GO)
    shutil.rmtree(place.cache / "outcomes")
    (folder,) = place.cache.glob(pattern)
    shutil.rmtree(folder)
    assert place.run("releases").code == 0
    assert place.run(*GO) == before
    assert folder.is_dir()


def test_an_engine_with_a_file_missing_is_no_verdict(place: Place) -> None:
    (place.cache / "releases/vllm-0.32.0/tree/vllm/engine/arg_utils.py").unlink()
    done = place.run(*GO)
    assert done.code == 3
    assert done.out.startswith("HOLD")
    assert "No module named 'vllm.engine.arg_utils'" in done.out
    assert place.run("releases", "remove", "vllm==0.32.0").code == 0
    works(place)


def test_leftovers_of_killed_processes_do_not_stay(place: Place) -> None:
    old, young = place.cache / "partial" / "vllm-0.1~abc", place.cache / "partial" / "vllm-0.33.0~xyz"
    for left in (old, young):
        (left / "made").mkdir(parents=True)
    os.utime(old, (0, 0))
    assert place.run("releases", "fetch", "vllm==0.33.0").code == 0
    assert list((place.cache / "partial").iterdir()) == []


# -- words that are no text, and places that are not there


def test_arguments_that_are_no_text(place: Place) -> None:
    done = place.check("vllm", "serve", "x", "--refuse", b"\xff\xfe\x80")
    assert (done.code, done.err) == (1, "")
    assert "ValueError: \\udcff\\udcfe\\udc80\n" in done.out
    told = json.loads(place.check("vllm", "serve", "x", "--refuse", b"\xff", options=("--json",)).out)
    assert told["launches"][0]["argv"][-1] == "\udcff"
    place.check("foo", b"\xff").says(2, "cannot tell which engine `foo '\\udcff'` starts")
    place.run("gpus", b"\xff").says(2, "unknown GPU")
    place.run(b"\xff").says(2, "unknown command")


@pytest.mark.parametrize(
    "locale",
    [
        {"LANG": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "xx_YY.nonsense"},
    ],
)
def test_any_locale(place: Place, locale: dict[str, str | None]) -> None:
    words = ("vllm", "serve", "x", "--refuse", "é漢")
    told = json.loads(place.check(*words, options=("--json",), env=locale).out)
    (world,) = told["launches"][0]["worlds"]
    assert world["error"]["message"] == "é漢"
    done = place.check(*words, env=locale)
    assert (done.code, done.err) == (1, "")
    assert "ValueError: é漢" in done.out or "ValueError: \\xe9\\u6f22" in done.out
    assert place.run("gpus", env=locale).code == 0


def test_many_long_arguments(place: Place) -> None:
    words = [f"--refuse={'x' * 100_000}" for _ in range(10)]  # what a system takes at most in one command
    done = place.check("vllm", "serve", "x", *words)
    assert (done.code, done.err) == (1, "")
    assert len(done.out) < 10_000
    place.check("x" * 100_000).says(2, "cannot tell which engine")


@pytest.mark.parametrize("name", ["HOME", "PATH", "TMPDIR"])
def test_a_variable_that_is_not_set(place: Place, name: str) -> None:
    works(place, **{name: None})


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_uid: int) -> None:
        raise KeyError

    for name in ("HOME", "XDG_CACHE_HOME", "GONOGO_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(OwnProblem, match="set GONOGO_CACHE"):
        cache_folder()


@pytest.mark.skipif(sys.platform == "darwin", reason="there a working folder cannot be removed")
def test_a_working_folder_that_was_removed(place: Place) -> None:
    folder = place.folder / "gone"
    folder.mkdir()
    line = 'rmdir "$PWD"; exec "$0" -m gonogo "$@"'
    for words in (GO, (*GO, "--refuse", "no"), ("gpus",), ("releases",)):
        folder.mkdir(exist_ok=True)
        command = ["bash", "-c", line, sys.executable, *words]
        done = subprocess.run(command, cwd=folder, env=place.environment(), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == ("--refuse" in words, ""), done


def test_model_facts_that_are_nonsense(place: Place) -> None:
    model = place.folder / "model"
    model.mkdir()
    for text in ("{broken", "[]", "\0", "", "nul"):
        (model / "config.json").write_text(text)
        place.check("vllm", "serve", str(model)).says(2, f"{model}/config.json")
    (model / "config.json").write_bytes(b"\xff\xfe")
    place.check("vllm", "serve", str(model)).says(2, "config.json is not UTF-8 text")
    place.check("vllm", "serve", "/m", options=("--model-facts", "/m=/no/such")).says(2, "/no/such")
    place.check("vllm", "serve", "/m", options=("--model-facts", "/m")).says(2, "--model-facts")
    place.check("vllm", "serve", "x", options=("--models-dir", str(model / "config.json"))).says(2, "no such folder")
    (model / "config.json").write_text('{"model_type": "llama"}')
    assert place.check("vllm", "serve", str(model)).code == 0
