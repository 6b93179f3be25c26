"""Launches out of what a caller of the API gives, and whether a system could be given their words at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonogo.launches import Launch, read_command, read_line
from gonogo.problems import UsageProblem


def launches_of(command: str | Sequence[str] | Launch | Sequence[Launch]) -> list[Launch]:
    """A shell line, the words of a command, or launches as they are. Raises UsageProblem for anything else."""
    if isinstance(command, Launch):
        return [_checked(command)]
    if isinstance(command, str):
        check_words([command])
        return [read_line(command)]
    words = list(command) if isinstance(command, Sequence) and not isinstance(command, bytes) else [command]
    if words and all(isinstance(word, Launch) for word in words):
        return [_checked(word) for word in words if isinstance(word, Launch)]
    if not all(isinstance(word, str) for word in words):
        raise UsageProblem("a launch is a shell line, a list of words, or Launch objects, and nothing else")
    texts = [word for word in words if isinstance(word, str)]
    check_words(texts)
    return [read_command(texts)]


def _checked(launch: Launch) -> Launch:
    check_words([*launch.argv, *launch.args])
    check_environment(launch.env)
    return launch


def check_words(words: Sequence[str]) -> None:
    """Raise UsageProblem for a word that no command line can carry."""
    for word in words:
        if "\0" in word:
            raise UsageProblem("the command has a NUL byte in it, which no command line can carry: take it out")
        try:
            word.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise UsageProblem(
                "the command has half a surrogate pair in it, which no command line can carry: take it out"
            ) from None


def check_environment(env: Mapping[str, str]) -> None:
    """Raise UsageProblem for variables that no environment can hold."""
    for name, value in env.items():
        if not name or "=" in name:
            raise UsageProblem(f"{name!r} is no name of an environment variable")
        check_words([name, value])
