"""``docker run [options] IMAGE [words]``, and podman's and nerdctl's way of the same."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gonogo.launches.images import Image, read_image
from gonogo.launches.programs import is_program, program_name
from gonogo.launches.script import shown
from gonogo.problems import UsageProblem

CLIENTS = frozenset({"docker", "podman", "nerdctl"})
_LARGEST_ENV_FILE = 1 << 20
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(?:=|$)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


@dataclass(frozen=True)
class Options:
    """Long options that take a value, long options that take none, and what a letter is short for."""

    values: frozenset[str]
    switches: frozenset[str]
    short: Mapping[str, str]


@dataclass
class ContainerRun:
    """What a ``run`` starts: ``words`` inside a container of ``image``, with ``env`` and GPUs as given to it.

    ``unknown_env`` are variables that it passes on from its caller, who is not known to have them.
    """

    image: Image
    words: list[str]
    env: dict[str, str] = field(default_factory=dict)
    mounts: dict[str, str] = field(default_factory=dict)
    gpu_count: int | None = None
    folder: str | None = None
    unknown_env: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_run(words: Sequence[str], caller: Mapping[str, str]) -> ContainerRun:
    """The container that ``words`` (``docker run ...``) start.

    ``caller`` is what is known of the environment of the client: ``-e NAME`` without a value takes it from there.
    Raises UsageProblem for another sub-command, an option that no client has, a missing image, or an image whose entry
    point is not known where nothing else says what it starts.
    """
    client = program_name(words[0])
    own, run = options()
    start = 1
    for option, _, end in _parse(client, own, words, 1):
        if option in ("help", "version"):
            raise UsageProblem(f"`{shown(list(words))}` starts no container: gonogo checks `{client} run ... IMAGE`")
        start = end
    start += words[start : start + 1] == ["container"]
    if list(words[start : start + 1]) != ["run"]:
        raise UsageProblem(f"`{shown(list(words))}` starts no container: gonogo checks `{client} run ... IMAGE`")
    given: dict[str, list[str]] = {}
    position = start + 1
    for option, value, end in _parse(client, run, words, start + 1):
        given.setdefault(option, []).append(value)
        position = end
    if words[position : position + 1] == ["--"]:
        position += 1
    if position >= len(words):
        raise UsageProblem(f"`{shown(list(words))}` names no image: put it behind the options")
    image = read_image(words[position])
    started = ContainerRun(image, [], notes=list(image.notes))
    started.words = _started(image, given.get("entrypoint", [None])[-1], list(words[position + 1 :]))
    _set_environment(started, given, caller)
    _set_mounts(started, given)
    _set_gpus(started, given)
    started.folder = given.get("workdir", [None])[-1]
    return started


@cache
def options() -> tuple[Options, Options]:
    """The options of the clients before ``run``, and of ``run`` itself."""
    table = tomllib.loads((Path(__file__).parent / "container_options.toml").read_text())
    client = table["client"]
    run = frozenset(table["values"]) | frozenset(table["podman_values"]) | frozenset(table["nerdctl_values"])
    return (
        Options(frozenset(client["values"]), frozenset(client["switches"]), client["short"]),
        Options(run, frozenset(table["switches"]), table["short"]),
    )


def _parse(client: str, known: Options, words: Sequence[str], start: int) -> Iterator[tuple[str, str, int]]:
    """Each option from ``start`` on with its value (empty for a switch), and the position behind it.

    As pflag reads them: ``--env=A=b``, ``--env A=b``, ``-eA=b``, ``-it``, ``--rm=false``; the first other word, or
    ``--``, ends them.
    """
    position = start
    while position < len(words):
        word = words[position]
        if not word.startswith("-") or word in ("-", "--"):
            return
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            _check(client, known, name, f"--{name}")
            if name in known.values and not equals:
                position += 1
                value = _value_at(words, position, word)
            position += 1
            yield name, value, position
            continue
        letters = word[1:]
        while letters:
            name = known.short.get(letters[0], "")
            _check(client, known, name, f"-{letters[0]}")
            letters = letters[1:]
            if name in known.switches:
                if letters.startswith("="):
                    letters = ""
                yield name, "", position + 1
                continue
            value, letters = letters.removeprefix("="), ""
            if not value:
                position += 1
                value = _value_at(words, position, word)
            yield name, value, position + 1
        position += 1


def _check(client: str, known: Options, name: str, written: str) -> None:
    if name not in known.values and name not in known.switches:
        raise UsageProblem(f"{client} has no option {shown([written])}: options of the engine go behind the image")


def _value_at(words: Sequence[str], position: int, option: str) -> str:
    if position >= len(words):
        raise UsageProblem(f"the option {shown([option])} needs a value: give one, and an image behind it")
    return words[position]


def _started(image: Image, entry_point: str | None, words: list[str]) -> list[str]:
    """All that the container runs: the entry point and the words behind it."""
    if entry_point is not None:
        return [*_entry_words(entry_point), *words]
    if image.guessed and words and is_program(words[0]):
        return words
    if image.entry_point is None and (not words or words[0].startswith("-")):
        raise UsageProblem(
            f"cannot tell what image {shown([image.name])} starts: give the whole command behind it, or --entrypoint"
        )
    return [*(image.entry_point or ()), *words]


def _entry_words(entry_point: str) -> list[str]:
    """The words of ``--entrypoint``: one program, none for an empty one, or (podman) a JSON list."""
    if entry_point.startswith("["):
        try:
            listed = json.loads(entry_point)
        except ValueError:
            listed = None
        if isinstance(listed, list) and all(isinstance(word, str) for word in listed):
            return listed
    return [entry_point] if entry_point else []


def _set_environment(run: ContainerRun, given: Mapping[str, list[str]], caller: Mapping[str, str]) -> None:
    """Files first, then ``-e`` in order: so docker does it, wherever they stand."""
    for path in given.get("env-file", []):
        if _set_lines(run.env, _env_file(path, run.notes), caller):
            run.notes.append(f"--env-file {path} leaves variables to whoever starts the container: not known")
    missing = _set_lines(run.env, given.get("env", []), caller)
    run.unknown_env += missing
    if "env-host" in given:
        run.notes.append("--env-host passes on the whole environment, which is not known")
    for name in given.get("unsetenv", []):
        run.env.pop(name, None)


def _set_lines(env: dict[str, str], lines: Sequence[str], caller: Mapping[str, str]) -> list[str]:
    """Set what ``lines`` say, and return the names that they leave to the caller, who has no value for them."""
    missing: list[str] = []
    for line in lines:
        name, equals, value = line.partition("=")
        if equals:
            env[name] = value
        elif name in caller:
            env[name] = caller[name]
        else:
            env.pop(name, None)
            missing.append(name)
    return missing


def _env_file(path: str, notes: list[str]) -> list[str]:
    """The ``NAME=value`` lines of an ``--env-file``: no quotes, no expansion, ``#`` at the start of a line comments."""
    try:
        file = Path(path).resolve()
        # A launch may be somebody else's: it must not make gonogo wait on a pipe, or read a device or a process.
        special = not file.is_file() or str(file).startswith(("/proc/", "/sys/", "/dev/"))
        if special or file.stat().st_size > _LARGEST_ENV_FILE:
            notes.append(f"--env-file {path} is not read: it is no plain small file")
            return []
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        notes.append(f"--env-file {path} cannot be read here, so its variables are not known")
        return []
    lines = [line.lstrip() for line in text.replace("\r\n", "\n").split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not all(_VARIABLE.match(line) for line in lines):
        # Said without a word of what is in it: it may be anything.
        notes.append(f"--env-file {path} is not made of NAME=value lines, so its variables are not known")
        return []
    return lines


def _set_mounts(run: ContainerRun, given: Mapping[str, list[str]]) -> None:
    for volume in given.get("volume", []):
        drive = volume[:2] if _DRIVE.match(volume) else ""
        outside, colon, rest = volume[len(drive) :].partition(":")
        inside = rest.partition(":")[0]
        # `-v NAME:/path` is a volume that docker keeps, `-v /path` an empty one: nothing outside is known of either.
        if colon and (drive or outside.startswith(("/", ".", "~", "$")) or "/" in outside):
            run.mounts[inside] = drive + outside
    for mount in given.get("mount", []):
        fields = dict(_key_value(part) for part in _csv(mount))
        inside = next((fields[key] for key in ("target", "destination", "dst") if key in fields), "")
        outside = next((fields[key] for key in ("source", "src") if key in fields), "")
        if fields.get("type") == "bind" and inside and outside:
            run.mounts[inside] = outside


def _set_gpus(run: ContainerRun, given: Mapping[str, list[str]]) -> None:
    counts = [_requested(request, run.notes) for request in given.get("gpus", [])]
    for device in given.get("device", []):
        # The other way to give GPUs: `--device nvidia.com/gpu=0` (the container device interface)
        kind, equals, number = device.partition("=")
        if equals and kind.endswith(".com/gpu"):
            counts.append(None if number == "all" else 1)
    visible = run.env.get("NVIDIA_VISIBLE_DEVICES")
    if not counts and given.get("runtime", [""])[-1] == "nvidia" and visible:
        counts.append(None if visible in ("all", "none", "void") else len(visible.split(",")))
    if counts and None not in counts:
        run.gpu_count = sum(count for count in counts if count is not None)


def _requested(request: str, notes: list[str]) -> int | None:
    """How many GPUs one ``--gpus`` asks for; None for all, or where it cannot be read. See docker/cli opts/gpus.go."""
    count: int | None = 1
    devices = 0
    for part in _csv(request):
        key, value = _key_value(part)
        if key == "device":
            devices = len(value.split(","))
        elif key == "count" or not value:
            number = value or key
            if number == "all" or number == "-1":
                count = None
            elif number.isdigit():
                count = int(number)
                if devices:
                    notes.append(f"--gpus {request}: docker wants more quotes here, as in --gpus '\"device=0,1\"'")
                    return None
            else:
                notes.append(f"--gpus {request} cannot be read, so the number of GPUs is open")
                return None
    return devices or count


def _csv(text: str) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error:  # a field of more than 128 KiB
        return []


def _key_value(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value
