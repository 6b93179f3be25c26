"""Programs that start another one and change nothing of its words: ``sudo``, ``nohup``, ``uv run`` and their kind."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement

from gonogo.launches.programs import program_name, unknown_program
from gonogo.problems import UsageProblem


@dataclass(frozen=True)
class _Wrapper:
    """How to find the command behind a wrapper.

    ``values`` are its options that take the next word; ``operands`` how many words stand before the command.
    ``module`` is the option that makes the next word a Python module, ``requirements`` the options that name a
    package to install.
    """

    values: frozenset[str] = frozenset()
    operands: int = 0
    module: frozenset[str] = frozenset()
    requirements: frozenset[str] = frozenset()


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UV_VALUES = _options(
    "--extra --no-extra --group --no-group --only-group --no-editable-package --env-file -w --with --with-editable "
    "--with-requirements --package --python-platform --index --default-index -i --index-url --extra-index-url -f "
    "--find-links --index-strategy --keyring-provider -P --upgrade-package --upgrade-group --resolution --prerelease "
    "--prerelease-package --fork-strategy --exclude-newer --exclude-newer-package --no-sources-package --link-mode -C "
    "--config-setting --config-settings-package --no-build-isolation-package --no-build-package --no-binary-package "
    "--reinstall-package --cache-dir --refresh-package -p --python --color --allow-insecure-host --directory --project "
    "--config-file --from -c --constraints -b --build-constraints --overrides --torch-backend"
)
_UV_RUN = _Wrapper(_UV_VALUES, module=_options("-m --module"), requirements=_options("-w --with"))
_UV_TOOL = _Wrapper(_UV_VALUES, requirements=_options("--from -w --with"))
_CONDA_RUN = _Wrapper(_options("-n --name -p --prefix --cwd"))

# By program, and by the sub-commands that make it one (`uv run`, `conda run`).
_WRAPPERS: dict[tuple[str, ...], _Wrapper] = {
    ("sudo",): _Wrapper(
        _options(
            "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -T -U -r --role "
            "-t --type"
        )
    ),
    ("doas",): _Wrapper(_options("-u -C -a")),
    ("nohup",): _Wrapper(),
    ("exec",): _Wrapper(_options("-a")),
    ("command",): _Wrapper(),
    ("builtin",): _Wrapper(),
    ("time",): _Wrapper(_options("-f --format -o --output")),
    ("nice",): _Wrapper(_options("-n --adjustment")),
    ("ionice",): _Wrapper(_options("-c --class -n --classdata")),
    ("chrt",): _Wrapper(_options("-T -P -D"), operands=1),
    ("setsid",): _Wrapper(),
    ("stdbuf",): _Wrapper(_options("-i --input -o --output -e --error")),
    ("unbuffer",): _Wrapper(),
    ("timeout",): _Wrapper(_options("-s --signal -k --kill-after"), operands=1),
    ("taskset",): _Wrapper(operands=1),
    ("numactl",): _Wrapper(
        _options(
            "-i --interleave -w --weighted-interleave -p --preferred -P --preferred-many -C --physcpubind -N "
            "--cpunodebind -m --membind"
        )
    ),
    ("caffeinate",): _Wrapper(_options("-t -w")),
    ("env",): _Wrapper(_options("-u --unset -C --chdir -S --split-string -a --argv0")),
    ("tini",): _Wrapper(_options("-p -e")),
    ("dumb-init",): _Wrapper(_options("-r --rewrite")),
    ("catatonit",): _Wrapper(),
    ("gosu",): _Wrapper(operands=1),
    ("su-exec",): _Wrapper(operands=1),
    ("uv", "run"): _UV_RUN,
    ("uvx",): _UV_TOOL,
    ("uv", "tool", "run"): _UV_TOOL,
    ("pipx", "run"): _Wrapper(_options("--spec --python --index-url -i --pip-args"), requirements=_options("--spec")),
    ("poetry", "run"): _Wrapper(_options("-P --project -C --directory")),
    ("pdm", "run"): _Wrapper(_options("-p --project")),
    ("pipenv", "run"): _Wrapper(),
    ("rye", "run"): _Wrapper(),
    ("pixi", "run"): _Wrapper(_options("-e --environment --manifest-path -p --platform")),
    ("conda", "run"): _CONDA_RUN,
    ("mamba", "run"): _CONDA_RUN,
    ("micromamba", "run"): _CONDA_RUN,
}
# These start several processes with words of their own each; what one of them gets is not in the line.
_LAUNCHERS = frozenset(
    {"torchrun", "mpirun", "mpiexec", "orterun", "prterun", "srun", "deepspeed", "accelerate", "horovodrun"}
)
_DROP_ENVIRONMENT = frozenset({"sudo", "doas"})
_TAKE_VERSIONS = frozenset({"uvx", "uv", "pipx"})
_CHANGE_FOLDER = frozenset({("env", "-C"), ("sudo", "-D")})
_NAMED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_AT_VERSION = re.compile(r"([A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?)@(\d[\w.!+-]*)")


@dataclass
class Unwrapped:
    """What a wrapper does before it runs the command ``words``.

    ``module``: they are what ``python -m`` would get. ``drops``: no variable set so far is passed on but those
    ``kept``; ``unset`` are taken away in any case. ``line`` is shell text that stands for ``words`` (``env -S``).
    ``folder`` is where the command runs, ``requirements`` are what is installed for it (``uvx --from vllm==0.33.0``).
    """

    words: list[str] = field(default_factory=list)
    module: bool = False
    drops: bool = False
    kept: frozenset[str] = frozenset()
    unset: list[str] = field(default_factory=list)
    line: str | None = None
    folder: str | None = None
    requirements: list[Requirement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def unwrap(words: list[str]) -> Unwrapped | None:
    """What the wrapper ``words[0]`` does; None where it is none. Raises UsageProblem for one without a command."""
    name = program_name(words[0])
    if name in _LAUNCHERS:
        raise UsageProblem(
            f"`{name}` starts several processes, which gonogo does not read: give the command that one of them runs"
        )
    length = next((length for length in (3, 2, 1) if (name, *words[1:length]) in _WRAPPERS), 0)
    if not length:
        return None
    wrapper = _WRAPPERS[(name, *words[1:length])]
    out = Unwrapped(drops=name in _DROP_ENVIRONMENT)
    position = _skip_options(name, wrapper, words, length, out)
    out.words = words[position + (0 if out.module else wrapper.operands) :]
    if name == "env":
        out.words = _without_nameless(out.words, out.notes)
    if not out.words and out.line is None:
        raise unknown_program(words)
    if name in _TAKE_VERSIONS and out.words and (found := _AT_VERSION.fullmatch(out.words[0])):
        out.requirements += _requirements(f"{found[1]}=={found[2]}")
        out.words[0] = found[1].partition("[")[0]
    return out


def _without_nameless(words: list[str], notes: list[str]) -> list[str]:
    """The words of ``env`` without the variables in front that have no readable name (``env "$NAME=1" ...``)."""
    count = next((at for at, word in enumerate(words) if "=" not in word), len(words))
    nameless = [word for word in words[:count] if not _NAMED.match(word)]
    notes += [f"`env {word}` sets a variable whose name is not known" for word in nameless]
    return [word for word in words[:count] if word not in nameless] + words[count:]


def exact(requirement: Requirement) -> str | None:
    """The version that ``requirement`` pins with ``==``, if it does."""
    pins = [part for part in requirement.specifier if part.operator == "==" and not part.version.endswith("*")]
    return pins[0].version if len(pins) == 1 else None


def _skip_options(name: str, wrapper: _Wrapper, words: list[str], position: int, out: Unwrapped) -> int:
    """The position behind the wrapper's options; what they say is put down in ``out``."""
    while position < len(words):
        word = words[position]
        if not word.startswith("-"):
            return position
        position += 1
        if word == "--":
            return position
        switches, option, value, takes_next = _taken_apart(wrapper, word)
        if option in wrapper.module:
            out.module = True
            return position
        if takes_next:
            value = words[position] if position < len(words) else ""
            position += 1
        _apply(name, wrapper, switches, option, value, out)
        if out.line is not None:
            out.line = " ".join([out.line, shlex.join(words[position:])])
            return len(words)
    return position


def _taken_apart(wrapper: _Wrapper, word: str) -> tuple[str, str, str, bool]:
    """What takes no value in ``word``, what does, its value, and whether that is the next word."""
    if word.startswith("--"):
        option, equals, value = word.partition("=")
        if option in wrapper.values:
            return "", option, value, not equals
        return ("", option, value, False) if equals or option in wrapper.module else (option, "", "", False)
    for position, letter in enumerate(word[1:], 1):
        option = f"-{letter}"
        if option in wrapper.values:
            rest = word[position + 1 :]
            return word[1:position], option, rest.removeprefix("="), not rest
        if option in wrapper.module:
            return word[1:position], option, "", False
    return word[1:] or "-", "", "", False


def _apply(name: str, wrapper: _Wrapper, switches: str, option: str, value: str, out: Unwrapped) -> None:
    """Put down in ``out`` what an option of the wrapper ``name`` changes for the command."""
    if option in wrapper.requirements:
        for part in value.split(","):
            out.requirements += _requirements(part)
    elif option == "--env-file":
        out.notes.append(f"--env-file {value}: what it sets is not known")
    elif option in ("--chdir", "--directory", "--cwd") or (name, option) in _CHANGE_FOLDER:
        out.folder = value
    elif (name, option) in (("env", "-u"), ("env", "--unset")):
        out.unset.append(value)
    elif (name, option) in (("env", "-S"), ("env", "--split-string")):
        out.line = value
    elif (name, option) == ("sudo", "--preserve-env"):
        out.kept |= frozenset(value.split(","))
    letters = "" if switches.startswith("--") else switches
    if name == "env" and (switches == "--ignore-environment" or "i" in letters or letters == "-"):
        out.drops = True
    if name == "sudo" and (switches == "--preserve-env" or "E" in letters):
        out.drops = False


def _requirements(text: str) -> list[Requirement]:
    try:
        return [Requirement(text.strip())]
    except InvalidRequirement:
        return []
