"""Which program starts which engine, from the engines' own tables."""

from __future__ import annotations

import re

from gonogo.engines import ENGINES, Engine, engine_named
from gonogo.launches.script import shown
from gonogo.problems import UsageProblem

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh"})
_PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?t?|py")


def engines() -> list[Engine]:
    """All engines, in the order in which gonogo names them."""
    return [engine_named(name) for name in ENGINES]


def program_name(word: str) -> str:
    """The bare name of the program that ``word`` runs: without folder, and without ``.exe``."""
    name = re.split(r"[/\\]", word)[-1]
    return name[:-4] if name.lower().endswith(".exe") else name


def is_python(word: str) -> bool:
    """Whether ``word`` runs a Python interpreter: ``python3.11``, ``.venv/bin/python``."""
    return _PYTHON.fullmatch(program_name(word)) is not None


def is_program(word: str) -> bool:
    """Whether ``word`` begins a whole command, and not the arguments of one: an engine's, Python, or a shell."""
    name = program_name(word)
    return is_python(word) or name in SHELLS or engine_of_command(name) is not None


def engine_of_command(name: str) -> Engine | None:
    """The engine whose console script is called ``name``."""
    return next((engine for engine in engines() if name in engine.commands), None)


def engine_of_module(module: str) -> Engine | None:
    """The engine whose server ``python -m module`` starts."""
    return next((engine for engine in engines() if module in engine.modules), None)


def command_of_module(module: str) -> str | None:
    """The console script that ``python -m module`` is the same as."""
    for engine in engines():
        command: str | None = engine.table.get("command_modules", {}).get(module)
        if command is not None:
            return command
    return None


def module_of_file(path: str) -> str | None:
    """The server module that ``python path`` runs, where the path ends like one: ``.../sglang/launch_server.py``."""
    parts = path.removesuffix(".py").replace("\\", "/").split("/")
    for engine in engines():
        for module in engine.modules:
            names = module.split(".")
            if path.endswith(".py") and parts[-len(names) :] == names:
                return module
    return None


def engine_of_call(dotted: str) -> tuple[Engine, str] | None:
    """The engine, and its class, that the expression ``dotted(...)`` builds: ``LLM``, ``vllm.LLM``, ``sgl.Engine``."""
    root, _, rest = dotted.partition(".")
    name = dotted.rpartition(".")[2]
    for engine in engines():
        if name in engine.classes and (not rest or root in engine.table.get("expressions", {}).get("roots", [])):
            return engine, name
    return None


def check_starts_server(engine: Engine, command: str, words: list[str]) -> None:
    """Raise UsageProblem where ``words`` behind the console script ``command`` start no server."""
    wanted = engine.commands[command]
    if words[:1] != [wanted]:
        raise UsageProblem(f"`{shown([command, *words[:1]])}` starts no server: gonogo checks `{command} {wanted} ...`")


def expected() -> str:
    """What a launch can look like, for a message."""
    forms = []
    for engine in engines():
        forms += [f"{command} {word}" for command, word in engine.commands.items()]
        forms += [f"python -m {module}" for module in engine.modules]
    calls = [f"{engine.classes[0]}(...)" for engine in engines()]
    return f"{', '.join(forms)}, docker run ... IMAGE, or {' or '.join(calls)} as one Python expression"


def unknown_program(words: list[str]) -> UsageProblem:
    """The problem with a command that starts nothing gonogo knows."""
    return UsageProblem(f"cannot tell which engine `{shown(words)}` starts: expected {expected()}")
