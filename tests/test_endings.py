"""What ends a command from outside: signals, a reader that goes away, a disk that is full, streams that are closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.releases.package_index import PackageIndex
from tests.tiny_engine import MAIN, Place, make_index, new_place

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
WAITING = ("check", "--release", "vllm==0.32.0", "--gpu", "cpu", "--", "vllm", "serve", "x", "--wait")


def processes_below(folder: Path) -> list[int]:
    """Processes that work in ``folder``, or have it in their command."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                at_work = (entry / "cwd").readlink().is_relative_to(folder)
                if at_work and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until, "it did not happen within a minute"
        time.sleep(0.05)


def start_and_wait(place: Place) -> subprocess.Popen[bytes]:
    """A check in the middle of its dry run: gonogo's child and the run itself are at work."""
    process = place.start(*WAITING)
    wait_until(lambda: len(processes_below(place.temporary)) == 2)
    return process


@linux
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)],
    ids=["INT", "TERM", "HUP", "KILL"],
)
def test_a_signal_in_the_middle_of_a_dry_run_leaves_nothing(place: Place, number: int, code: int) -> None:
    process = start_and_wait(place)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (code, b"", b"")
    wait_until(lambda: processes_below(place.temporary) == [])
    wait_until(lambda: list(place.temporary.iterdir()) == [])
    assert place.check("vllm", "serve", "x").code == 0


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["INT", "TERM", "KILL"])
def test_a_signal_while_the_engine_is_loaded_leaves_nothing(place: Place, number: int) -> None:
    main = place.cache / "releases/vllm-0.32.0/tree/vllm/entrypoints/cli/main.py"
    main.write_bytes(b"import threading\nthreading.Event().wait()\n")
    process = place.start(*WAITING)
    wait_until(lambda: len(processes_below(place.temporary)) == 1)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (out, err) == (b"", b"")
    wait_until(lambda: processes_below(place.temporary) == [])
    wait_until(lambda: list(place.temporary.iterdir()) == [])
    main.write_bytes(MAIN)
    assert place.check("vllm", "serve", "x").code == 0


@linux
def test_a_child_that_is_killed_is_one_line(place: Place) -> None:
    process = start_and_wait(place)
    for pid in processes_below(place.temporary):
        os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 4
    assert err == b"gonogo: the child for dry runs ended unexpectedly: it said nothing\n"
    assert list(place.temporary.iterdir()) == []


@pytest.fixture
def own_index() -> PackageIndex:
    return make_index()


@linux
@pytest.mark.parametrize("file", ["vllm-0.32.0.tar.gz", "tinydep-1.0-py3-none-any.whl"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["INT", "TERM", "KILL"])
def test_a_signal_in_the_middle_of_a_fetch_spoils_nothing(
    own_index: PackageIndex, tmp_path: Path, file: str, number: int
) -> None:
    place = new_place(tmp_path / "place", own_index, None)
    gate = own_index.hold(file)
    process = place.start("releases", "fetch", "vllm==0.32.0")
    assert gate.reached.wait(60)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert err == b""
    gate.open.set()
    listed = place.run("releases").out
    assert listed.startswith("no release in the cache") or "(its packages are still to be fetched)" in listed
    done = place.check("vllm", "serve", "x")
    assert (done.code, done.err) == (0, ""), done
    wait_until(lambda: processes_below(place.folder) == [])
    assert list((place.cache / "partial").iterdir()) == []
    own_index.go_down()


def test_two_at_once_fetch_one_release(bare_place: Place) -> None:
    bare_place.index.asked.clear()
    processes = [bare_place.start(*WAITING[:-1]) for _ in range(3)]
    told = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], told
    assert {err for _, err in told} == {b""}
    assert len({out for out, _ in told}) == 1
    assert bare_place.index.asked["vllm-0.32.0.tar.gz"] == 1
    assert list((bare_place.cache / "partial").iterdir()) == []


# -- stdout, stderr, stdin


def gpus_through_a_shell(place: Place, redirection: str) -> subprocess.CompletedProcess[bytes]:
    line = f'"$0" -m gonogo gpus {redirection}'
    return subprocess.run(
        ["bash", "-c", line, sys.executable],
        env=place.environment(),
        cwd=place.folder,
        capture_output=True,
        check=False,
    )


def test_a_reader_that_goes_away_is_no_error(bare_place: Place) -> None:
    done = gpus_through_a_shell(bare_place, "| head -1; exit ${PIPESTATUS[0]}")
    assert done.stdout.startswith(b"H100-80GB")
    assert (done.returncode, done.stderr) in ((0, b""), (141, b""))  # 0: the pipe held all of it
    read, write = os.pipe()
    os.close(read)
    gone = bare_place.start("gpus", stdout=write)
    os.close(write)
    _, err = gone.communicate(timeout=30)
    assert (gone.returncode, err) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_result_that_cannot_be_written_is_said(bare_place: Place) -> None:
    with open("/dev/full", "w") as full:
        done = bare_place.run("gpus", stdout=full)
    done.says(4, "cannot write the result: No space left on device")


def test_closed_streams(bare_place: Place) -> None:
    done = gpus_through_a_shell(bare_place, "<&-")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"H100-80GB")
    done = gpus_through_a_shell(bare_place, ">&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    done = gpus_through_a_shell(bare_place, "H1000 --json 2>&-")
    assert done.returncode == 2
    assert done.stdout.startswith(b'{\n "schema": "gonogo.gpus/1",\n "error"')
    assert done.stdout.count(b"unknown GPU") == 1


def test_a_check_with_every_stream_closed(place: Place) -> None:
    line = f'"$0" -m gonogo {" ".join(WAITING[:-1])} <&- 2>&- >&-'
    done = subprocess.run(["bash", "-c", line, sys.executable], env=place.environment(), cwd=place.folder, check=False)
    assert done.returncode == 0
