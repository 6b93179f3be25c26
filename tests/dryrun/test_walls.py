"""What code in a dry run can do to the machine: nothing. Here an engine attacks it by every way that Python knows.

No launch can bring code into a dry run; these walls are for the day on which one does.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gonogo.dryrun import World
from gonogo.dryrun.process import ChildProcess
from tests.dryrun.tiny_world import ask, make_world, start

PAGE = """
import ctypes
import importlib.util
import json
import os
import posix
import signal
import socket
import subprocess
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)


def tell(found):
    raise ValueError(json.dumps(found))

def tried(function, *args):
    try:
        return repr(function(*args))
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

def writes_in_python(path):
    with open(path, "w") as file:
        file.write("mark")
    os.makedirs(path + ".d")
    tell({"cwd": os.getcwd(), "there": os.path.exists(path), "in /tmp": os.listdir("/tmp")})

def writes_behind_python(path):
    posix.open(path, posix.O_CREAT | posix.O_WRONLY)

def writes_natively(path):
    name = path.encode()
    found = {"create": libc.open(name, os.O_CREAT | os.O_WRONLY, 0o600), "folder": libc.mkdir(name + b".d", 0o700)}
    found["link"] = libc.symlink(b"/etc/passwd", name)
    tell(found)

def changes_natively(path):
    name = path.encode()
    tell({"write": libc.open(name, os.O_WRONLY), "cut": libc.truncate(name, 0), "away": libc.unlink(name)})

def reads_natively(path):
    tell({"read": libc.open(path.encode(), os.O_RDONLY), "system": libc.open(b"/etc/passwd", os.O_RDONLY) > 0})

def starts_programs(path):
    command = f"touch {path}"
    import _posixsubprocess
    tell({
        "Popen": tried(subprocess.run, ["touch", path]),
        "shell": tried(lambda: subprocess.run(command, shell=True).returncode),
        "system": tried(os.system, command),
    })

def starts_programs_natively(path):
    tell({"system": libc.system(f"touch {path}".encode())})

def starts_programs_behind_python(path):
    posix.system(f"touch {path}")

def forks():
    os.fork()

def forks_and_executes_natively(path):
    import time
    child = libc.fork()
    if child == 0:
        words = (ctypes.c_char_p * 3)(b"touch", path.encode(), None)
        libc.execv(b"/usr/bin/touch", words)
        libc._exit(7)
    tell({"status": os.waitpid(child, 0)[1] >> 8})

def runs_a_file(path):
    spec = importlib.util.spec_from_file_location("mark", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

def runs_a_file_and_shrugs(path):
    try:
        runs_a_file(path)
    except Exception:
        pass

def imports_from_a_folder(folder):
    sys.path.insert(0, folder)
    import mark

def runs_a_script(path):
    import runpy
    runpy.run_path(path)

def executes_text(path):
    exec(compile("import os; os.mkdir('/tmp/x')", "mark.py", "exec"))

def loads_a_library(path):
    ctypes.CDLL(path)

def connects(port):
    tell({"python": tried(lambda: socket.create_connection(("127.0.0.1", int(port)), timeout=5))})

def connects_natively(port):
    address = (2).to_bytes(2, sys.byteorder) + int(port).to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    stream, datagram = libc.socket(2, 1, 0), libc.socket(2, 2, 0)
    tell({
        "connect": libc.connect(stream, address, 16) if stream >= 0 else -1,
        "send": libc.sendto(datagram, b"mark", 4, 0, address, 16) if datagram >= 0 else -1,
    })

def connects_behind_python(port):
    import _socket
    _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(("127.0.0.1", int(port)))

def signals_others(process):
    tell({"python": tried(os.kill, int(process), 0), "natively": libc.kill(int(process), 0)})

def environment():
    tell(dict(os.environ))

def spins():
    while True:
        pass

def waits():
    threading.Event().wait()

def allocates():
    kept = []
    while True:
        kept.append(bytearray(1 << 26))

def writes_much():
    with open("/tmp/big", "wb") as file:
        while True:
            file.write(bytes(1 << 20))

def ends_itself():
    os.kill(os.getpid(), signal.SIGTERM)

def falls():
    ctypes.string_at(0)

def leaves():
    os._exit(3)

def answers():
    return {"size": 4}
"""
LIMITS = {"seconds": 5, "cpu_seconds": 2, "memory_bytes": 1 << 30, "file_bytes": 8 << 20}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("attacks"), PAGE, limits=LIMITS)


@pytest.fixture(scope="module")
def child(world: World) -> Iterator[ChildProcess]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_SECRET", "of the user")
        child = start(world)
    assert child.error is None, child.error
    yield child
    child.close()


@dataclass
class Attack:
    """One attack, what the engine told of it, and what else the child said."""

    world: World
    child: ChildProcess
    folder: Path
    last: dict[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> Path:
        """A file that is not there, and must not be after an attack."""
        return self.folder / "mark"

    def run(self, name: str, *words: object) -> dict[str, Any]:
        self.last = ask(self.child, " ".join([name, *map(str, words)]), self.folder)
        return self.last

    def tell(self, name: str, *words: object) -> Any:
        answer = self.run(name, *words)
        assert answer["outcome"] == "refused", answer
        return json.loads(answer["message"])

    def needs(self, wall: str) -> None:
        if wall not in self.child.state["walls"]:
            pytest.skip(f"this system has no {wall}")


@pytest.fixture
def attack(world: World, child: ChildProcess, tmp_path: Path) -> Iterator[Attack]:
    attack = Attack(world, child, tmp_path)
    yield attack
    assert not attack.mark.exists()
    assert not (tmp_path / "mark.d").exists()
    assert attack.run("answers")["outcome"] == "passed"  # the child lives on


def test_files_of_the_machine_are_not_there_for_python(attack: Attack) -> None:
    attack.needs("no-new-privs")
    (attack.folder / "known").write_text("secret")
    told = attack.tell("writes_in_python", "/tmp/mark")
    assert told == {"cwd": "/work", "there": True, "in /tmp": ["mark", "mark.d"]}
    assert not Path("/tmp/mark").exists()


def test_python_below_its_own_functions_is_held_by_the_audit_hook(attack: Attack) -> None:
    answer = attack.run("writes_behind_python", attack.mark)
    assert answer["denied"] == [f"open {str(attack.mark)!r}"]
    answer = attack.run("starts_programs_behind_python", attack.mark)
    assert answer["denied"][0].startswith("os.system")
    answer = attack.run("connects_behind_python", 9)
    assert answer["denied"] == ["socket.connect ('127.0.0.1', 9)"]


def test_native_code_cannot_write(attack: Attack) -> None:
    attack.needs("landlock")
    assert attack.tell("writes_natively", attack.mark) == {"create": -1, "folder": -1, "link": -1}


def test_native_code_cannot_change_what_is_there(attack: Attack) -> None:
    attack.needs("landlock")
    kept = attack.folder / "kept"
    kept.write_text("kept")
    told = attack.tell("changes_natively", kept)
    assert (told["write"], told["away"]) == (-1, -1)
    assert kept.exists()
    if landlock() >= 3:
        assert (told["cut"], kept.read_text()) == (-1, "kept")


def test_native_code_cannot_read_what_the_user_has(attack: Attack) -> None:
    attack.needs("landlock")
    secret = attack.folder / "secret"
    secret.write_text("secret")
    assert attack.tell("reads_natively", secret) == {"read": -1, "system": True}


def test_no_program_is_started_from_python(attack: Attack) -> None:
    told = attack.tell("starts_programs", attack.mark)
    assert told["Popen"].startswith("FileNotFoundError")
    assert (told["shell"], told["system"]) == ("127", str(127 << 8))
    answer = attack.run("forks")
    assert (answer["outcome"], answer["note"]) == ("passed", "os.fork()")  # where worker processes would begin


def test_no_program_is_started_natively(attack: Attack) -> None:
    attack.needs("landlock")
    assert attack.tell("starts_programs_natively", attack.mark)["system"] != 0
    assert attack.tell("forks_and_executes_natively", attack.mark) == {"status": 7}


@pytest.mark.parametrize("name", ["runs_a_file", "runs_a_file_and_shrugs", "executes_text"])
def test_code_that_is_not_the_engines_is_never_run(attack: Attack, name: str) -> None:
    planted = attack.folder / "mark.py"
    planted.write_text(f"import pathlib\npathlib.Path({str(attack.mark)!r}).touch()\n")
    answer = attack.run(name, planted)
    assert answer["outcome"] == "unclear"
    assert answer["foreign"][0] in (str(planted), "mark.py")


@pytest.mark.parametrize("name", ["runs_a_file", "runs_a_file_and_shrugs"])
def test_whether_it_is_there_at_all_makes_no_difference(attack: Attack, name: str) -> None:
    answer = attack.run(name, attack.folder / "mark.py")
    assert (answer["outcome"], answer["foreign"]) == ("unclear", [str(attack.folder / "mark.py")])


def test_a_folder_of_the_machine_holds_no_modules(attack: Attack) -> None:
    (attack.folder / "mark.py").write_text(f"import pathlib\npathlib.Path({str(attack.mark)!r}).touch()\n")
    for name, words in (("imports_from_a_folder", attack.folder), ("runs_a_script", attack.folder / "mark.py")):
        answer = attack.run(name, words)
        assert answer["fault"], answer


def test_a_library_of_the_machine_is_not_there(attack: Attack) -> None:
    answer = attack.run("loads_a_library", "/usr/lib/x86_64-linux-gnu/libz.so.1")
    assert answer["message"].endswith("cannot open shared object file: No such file or directory")
    assert [row["key"] for row in answer["decisions"]] == [
        f"library /usr/lib/x86_64-linux-gnu/libz.so.1 @vllm/page.py:{line_of('ctypes.CDLL(path)')}"
    ]


@dataclass
class Listener:
    """A server of this machine that counts who comes."""

    port: int
    seen: list[str]


@pytest.fixture
def listener() -> Iterator[Listener]:
    seen: list[str] = []
    stream = socket.create_server(("127.0.0.1", 0))
    port = stream.getsockname()[1]
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagram.bind(("127.0.0.1", port))
    datagram.setblocking(False)

    def listen() -> None:
        while True:
            try:
                stream.accept()[0].close()
            except OSError:
                return
            seen.append("connection")

    thread = threading.Thread(target=listen)
    thread.start()
    yield Listener(port, seen)
    stream.shutdown(socket.SHUT_RDWR)
    stream.close()
    thread.join()
    with contextlib.suppress(BlockingIOError):
        seen.append(datagram.recv(100).decode())
    datagram.close()
    assert seen == []


def test_python_reaches_nobody(attack: Attack, listener: Listener) -> None:
    assert attack.tell("connects", listener.port) == {
        "python": "ConnectionRefusedError: [Errno 111] Connection refused"
    }


def test_native_code_reaches_nobody(attack: Attack, listener: Listener) -> None:
    attack.needs("namespaces")
    assert attack.tell("connects_natively", listener.port) == {"connect": -1, "send": -1}


def test_other_processes_are_not_there(attack: Attack) -> None:
    told = attack.tell("signals_others", os.getpid())
    assert told["python"].startswith("ProcessLookupError")
    if landlock() >= 6:
        assert told["natively"] == -1


def test_nothing_of_the_users_environment_is_told(attack: Attack) -> None:
    assert attack.tell("environment") == attack.world.description()["env"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("spins", "used more processor time than a dry run may"),
        ("waits", "took too long"),
        ("allocates", "it used more memory than a dry run may"),
        ("writes_much", "a limit of dry runs or of this machine was in the way"),
        ("ends_itself", "was ended by signal 15"),
        ("falls", "was ended by signal 11"),
        ("leaves", "ended with 3"),
    ],
)
def test_who_takes_too_much_is_ended_with_a_reason(attack: Attack, name: str, reason: str) -> None:
    answer = attack.run(name)
    assert reason in str(answer.get("reason") or answer["fault"])


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(PAGE.splitlines(), 1) if text in line)


def landlock() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None)
    return max(0, int(libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))
