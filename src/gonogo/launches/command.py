"""One launch out of words, as they stand behind ``gonogo check --``, or out of one shell line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gonogo.engines import Engine
from gonogo.launches import programs
from gonogo.launches.calls import is_expression, read_expression
from gonogo.launches.container import CLIENTS, read_run
from gonogo.launches.script import LastCommand, last_command, shown
from gonogo.launches.types import Entry, Launch
from gonogo.launches.wrappers import exact, unwrap
from gonogo.problems import UsageProblem

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_PARAMETER = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_ESCAPED = re.compile(r'["`$\\]')
_MOST_LAYERS = 32  # sudo in env in bash in docker ...: nobody writes more, and each may copy all words
_PYTHON_VALUES = frozenset("WX")


def read_command(words: Sequence[str]) -> Launch:
    """The launch that ``words`` start, as a shell would hand them over.

    One word that is a Python expression (``LLM(...)``) or a whole shell line is read as such. Raises UsageProblem where
    the words start no server of an engine gonogo knows.
    """
    given = [words] if isinstance(words, str) else list(words)
    if any("\0" in word for word in given):
        raise UsageProblem("the command has a NUL byte in it, which no command line can carry: take it out")
    if not any(word.strip() for word in given):
        raise UsageProblem(_empty())
    if len(given) == 1 and (is_expression(given[0]) or len(given[0].split()) > 1):
        return read_line(given[0])
    return _Reading().launch(given)


def read_line(text: str) -> Launch:
    """The launch that one shell line is, quotes and variables read as bash does.

    Before the launch the line may set variables and change folder; redirections, a pipe behind it and ``&`` are left
    out. Variables that the line does not set stay in the words and are named in ``unread``. Raises UsageProblem for
    an unclosed quote, and for anything more of a program than that.
    """
    if is_expression(text):
        return read_expression(text)
    if not text.strip():
        raise UsageProblem(_empty())
    here = _here()
    last = last_command(text, variables=here, home=here.get("HOME"))
    reading = _Reading()
    reading.take_over(last)
    return reading.launch(list(last.words))


def _here() -> dict[str, str]:
    """Home and working folder: what a shell would put into a line typed here. Either may not exist."""
    here: dict[str, str] = {}
    with suppress(RuntimeError):
        here["HOME"] = str(Path.home())
    with suppress(OSError):
        here["PWD"] = str(Path.cwd())
    return here


def _empty() -> str:
    engine = programs.engines()[0]
    command, word = next(iter(engine.commands.items()))
    return f"the command is empty: give the launch to check, as in `gonogo check -- {command} {word} MODEL`"


@dataclass
class _Reading:
    """What is known of a launch while its layers come off one by one, from ``sudo`` to the engine."""

    env: dict[str, str] = field(default_factory=dict)
    folder: str | None = None
    image: str | None = None
    image_release: str | None = None
    gpu_count: int | None = None
    mounts: dict[str, str] = field(default_factory=dict)
    unknown_env: list[str] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take_over(self, last: LastCommand) -> None:
        self.env = dict(last.env)
        self.folder = last.folder
        self.unknown += last.unknown
        self.notes += last.notes

    def launch(self, given: list[str]) -> Launch:
        """The launch in the words ``given``."""
        words = self._without_assignments(given)
        argv = tuple(words)
        for _ in range(_MOST_LAYERS):
            if not words:
                raise UsageProblem("the command only sets variables: give the launch to check behind them")
            if len(words) == 1 and is_expression(words[0]):
                return self._finished(read_expression(words[0]), argv)
            inner = self._layer_off(words)
            if inner is None:
                return self._engine(words, argv)
            words = self._without_assignments(inner)
        raise UsageProblem(f"`{shown(given)}` is wrapped in too many programs: give the engine's own command")

    def _without_assignments(self, words: list[str]) -> list[str]:
        count = 0
        while count < len(words) and (found := _ASSIGNMENT.fullmatch(words[count])):
            self.env[found[1]] = found[2]
            count += 1
        return words[count:]

    def _layer_off(self, words: list[str]) -> list[str] | None:
        """The words inside the outermost wrapper, container or shell of ``words``; None where there is none."""
        name = programs.program_name(words[0])
        if name in CLIENTS:
            return self._container(words)
        if name in programs.SHELLS:
            return self._shell(name, words)
        unwrapped = unwrap(words)
        if unwrapped is None:
            return None
        dropped = [key for key in self.env if unwrapped.drops and key not in unwrapped.kept]
        for key in (*dropped, *unwrapped.unset):
            self.env.pop(key, None)
        if dropped:
            self.notes.append(f"{name} does not pass on {', '.join(dropped)}")
        self.folder = unwrapped.folder or self.folder
        self.requirements += unwrapped.requirements
        self.notes += unwrapped.notes
        if unwrapped.line is not None:
            return self._line(unwrapped.line, braces=False)
        return ["python", "-m", *unwrapped.words] if unwrapped.module else unwrapped.words

    def _container(self, words: list[str]) -> list[str]:
        run = read_run(words, self.env)
        self.image, self.image_release = run.image.name, run.image.release
        self.env, self.folder = run.env, run.folder
        self.gpu_count, self.mounts, self.unknown_env = run.gpu_count, run.mounts, run.unknown_env
        self.notes += run.notes
        return run.words

    def _shell(self, name: str, words: list[str]) -> list[str]:
        """The words in the string of ``bash -c '...'``, behind options like ``-lc`` and ``-o pipefail``."""
        position = 1
        while position < len(words) and words[position].startswith("-"):
            option = words[position]
            position += 1
            if option.startswith("--"):
                continue
            if "c" in option and position < len(words):
                return self._line(words[position], braces=name not in ("sh", "dash", "ash"))
            if option.endswith("o"):
                position += 1
        if position >= len(words):
            raise UsageProblem(f"`{shown(words)}` only starts a shell: give the launch that is typed in it")
        raise UsageProblem(
            f"cannot tell which engine `{shown(words)}` starts: a script is not read; give the command in it, "
            f"or {name} -c '...'"
        )

    def _line(self, text: str, braces: bool) -> list[str]:
        # Inside, no home and no folder of this machine: the shell may run in a container, or as somebody else.
        last = last_command(text, env=self.env, folder=self.folder, braces=braces)
        self.take_over(last)
        return list(last.words)

    def _engine(self, words: list[str], argv: tuple[str, ...]) -> Launch:
        """The launch where ``words`` are an engine's console script or a Python that runs its module."""
        name = programs.program_name(words[0])
        if programs.is_python(words[0]):
            return self._python(words, argv)
        return self._command(name, words[1:], words, argv)

    def _command(self, name: str, args: list[str], words: list[str], argv: tuple[str, ...]) -> Launch:
        engine = programs.engine_of_command(name)
        if engine is None:
            raise programs.unknown_program(words)
        programs.check_starts_server(engine, name, args)
        return self._started(engine, "command", name, args, argv)

    def _python(self, words: list[str], argv: tuple[str, ...]) -> Launch:
        """``python -u -m MODULE ...``, ``python -c CODE``, ``python FILE ...``."""
        position = 1
        while position < len(words) and words[position].startswith("-") and words[position] != "-":
            option = words[position]
            position += 1
            if option.startswith("--"):
                position += option == "--check-hash-based-pycs"
                continue
            for at, letter in enumerate(option[1:], 2):
                value, behind = option[at:], position
                if letter in "mc" or letter in _PYTHON_VALUES:
                    if not value:
                        value, behind = (words[position] if position < len(words) else ""), position + 1
                    if letter == "m":
                        return self._module(value, words[behind:], words, argv)
                    if letter == "c":
                        return self._finished(read_expression(value), argv)
                    position = behind
                    break
        if position >= len(words):
            raise programs.unknown_program(words)
        file, args = words[position], words[position + 1 :]
        module = programs.module_of_file(file)
        if module is not None:
            return self._module(module, args, words, argv)
        return self._command(programs.program_name(file), args, words, argv)

    def _module(self, module: str, args: list[str], words: list[str], argv: tuple[str, ...]) -> Launch:
        command = programs.command_of_module(module)
        if command is not None:
            return self._command(command, args, words, argv)
        engine = programs.engine_of_module(module)
        if engine is None:
            raise programs.unknown_program(words)
        return self._started(engine, "module", module, args, argv)

    def _started(self, engine: Engine, entry: Entry, target: str, args: list[str], argv: tuple[str, ...]) -> Launch:
        launch = Launch(engine=engine.name, argv=argv, entry=entry, target=target, args=tuple(args))
        return self._finished(launch, argv)

    def _finished(self, launch: Launch, argv: tuple[str, ...]) -> Launch:
        unread = tuple(text for text in dict.fromkeys(self.unknown) if any(text in word for word in launch.args))
        unset = [name for name, value in self.env.items() if any(text in value for text in self.unknown)]
        unknown_env = tuple(dict.fromkeys((*(name for name in self.unknown_env if name not in self.env), *unset)))
        notes = [*self.notes, *(f"{text} has no value here" for text in unread), *launch.notes]
        if unknown_env:
            notes.append(f"{', '.join(unknown_env)}: comes from outside the launch, so the value is not known")
        return replace(
            launch,
            argv=argv,
            env={name: value for name, value in self.env.items() if name not in unset},
            unknown_env=unknown_env,
            release=self._release(launch.engine, notes),
            image=self.image,
            gpu_count=self.gpu_count,
            mounts=self.mounts,
            folder=self.folder,
            unread=(*launch.unread, *unread),
            notes=tuple(dict.fromkeys(notes)),
        )

    def _release(self, engine: str, notes: list[str]) -> str | None:
        """What the launch says of the release: an installer's pin before the image's tag."""
        for requirement in self.requirements:
            version = exact(requirement)
            if version and canonicalize_name(requirement.name) == engine:
                return f"{engine}=={version}"
        if self.image_release and self.image_release.partition("==")[0] != engine:
            notes.append(f"the image is one of {self.image_release}, which says nothing of {engine}")
            return None
        return self.image_release


def shell_text(launch: Launch) -> str:
    """``launch`` as one shell line ready to paste, its environment in front as far as its words do not set it."""
    words = list(launch.argv)
    given: Mapping[str, str] = read_command(words).env
    missing = {name: value for name, value in launch.env.items() if given.get(name) != value}
    if launch.image is not None:
        client = next(at for at, word in enumerate(words) if programs.program_name(word) in CLIENTS)
        at = words.index("run", client) + 1
        words[at:at] = [word for name, value in missing.items() for word in ("-e", f"{name}={value}")]
        missing = {}
    # What had no value here shall get one where the line is pasted: it must not be quoted away.
    live = [*launch.unread, *(_PARAMETER.findall(" ".join(words)) if launch.unread or launch.unknown_env else ())]
    front = [f"{name}={_quoted(value, live)}" for name, value in missing.items()]
    return " ".join([*front, *(_quoted(word, live) for word in words)])


def _quoted(word: str, live: Sequence[str]) -> str:
    """``word`` as the shell must see it, on one line; the stretches ``live`` are left to the shell."""
    if any(text in word for text in live):
        parts = re.split("(" + "|".join(map(re.escape, live)) + ")", word)
        return '"' + "".join(part if at % 2 else _ESCAPED.sub(r"\\\g<0>", part) for at, part in enumerate(parts)) + '"'
    if not any(ord(char) < 32 or ord(char) == 127 for char in word):
        plain = "'" in word and not any(char in word for char in '"$`\\!')
        return f'"{word}"' if plain else shlex.quote(word)
    escaped = (f"\\x{ord(char):02x}" if ord(char) < 32 or ord(char) == 127 else char for char in word)
    inner = "".join("\\'" if char == "'" else "\\\\" if char == "\\" else char for char in escaped)
    return f"$'{inner}'"
