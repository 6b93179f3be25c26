"""A line of shell boiled down to its launch: the last command, and what the ones before it set for it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from gonogo.launches.shell import Command, Expander, Statement, Word, statements_of
from gonogo.problems import UsageProblem

_WITHOUT_EFFECT = frozenset({"set", "ulimit", "umask", "shopt", "true", ":", "trap", "hash"})
# What these set is in files that a line does not show.
_PREPARES = frozenset({"source", ".", "conda", "mamba", "micromamba", "module", "ml"})
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class LastCommand:
    """The command that a shell line ends in.

    ``words`` are what it gets; ``env`` what it finds exported, ``variables`` every variable that the line has set.
    ``folder`` is where it runs, if the line says so. ``unknown`` are the stretches of ``words`` and ``env`` that a
    shell would have replaced by something that the line does not hold, as they stand there (``${MODEL}``).
    """

    words: tuple[str, ...]
    env: dict[str, str]
    variables: dict[str, str]
    folder: str | None
    unknown: tuple[str, ...]
    notes: tuple[str, ...]


def shown(words: tuple[str, ...] | list[str]) -> str:
    """``words`` as a user would type them, cut short: for a message."""
    text = shlex.join(word[: _LONGEST_SHOWN + 1] for word in words[:8])
    return text if len(text) <= _LONGEST_SHOWN and len(words) <= 8 else text[:_LONGEST_SHOWN].rstrip() + " ..."


def last_command(
    text: str,
    *,
    variables: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    folder: str | None = None,
    home: str | None = None,
    braces: bool = True,
) -> LastCommand:
    """The command that ``text`` ends in, and what stands ready for it.

    ``variables`` are known before the first word, ``env`` is exported already. Read are assignments, ``export``,
    ``unset``, ``cd`` and what prepares an environment (``source``, with a note) before the last command;
    redirections, a pipe behind it, ``&`` at the end and what follows ``||`` are left out. Raises UsageProblem for
    anything else.
    """
    found = statements_of(text)
    statements = [
        statement
        for position, statement in enumerate(found)
        if position == 0 or found[position - 1].followed_by != "||"
    ]
    for statement in found[1:]:
        _check_continued(statement)
    state = _State({**(env or {}), **(variables or {})}, set(env or {}), folder, home, braces)
    if not statements:
        raise UsageProblem("the command is empty: give the launch to check")
    for statement in statements[:-1]:
        state.run(statement)
    command = statements[-1].pipeline[0]
    return state.finish(command)


def _check_continued(statement: Statement) -> None:
    """Raise UsageProblem where ``statement`` is the rest of a command that a backslash was to continue and did not."""
    words = statement.pipeline[0].words
    first = words[0].pieces[0]
    if first.kind == "text" and not first.quoted and first.text.startswith("-"):
        rest = shown(["".join(piece.text for piece in word.pieces) for word in words])
        raise UsageProblem(
            f"the command ends before `{rest}`: take out the blank or comment behind the backslash above it"
        )


class _State:
    """A shell between two statements: its variables, which of them are exported, and where it is."""

    def __init__(
        self, variables: dict[str, str], exported: set[str], folder: str | None, home: str | None, braces: bool
    ) -> None:
        self.variables = variables
        self.exported = exported
        self.export_all = False
        self.assigned: dict[str, None] = {}
        self.folder = folder
        self.expander = Expander(variables, home, braces)
        self.notes: list[str] = self.expander.notes

    def run(self, statement: Statement) -> None:
        """Take over what ``statement`` leaves behind for the commands after it."""
        command = statement.pipeline[0]
        assignments, words = _without_assignments(command)
        fields = [field for word in words for field in self.expander.fields(word)]
        if not fields:
            for word in assignments:
                self.assign(word)
            return
        name, operands = fields[0], fields[1:]
        if statement.followed_by == "&" or len(statement.pipeline) > 1:
            raise self.unreadable(fields)
        if name in ("export", "declare", "typeset", "readonly"):
            self.declare(words)
        elif name == "unset":
            for operand in operands:
                self.variables.pop(operand, None)
                self.exported.discard(operand)
        elif name in ("cd", "pushd"):
            self.enter([operand for operand in operands if operand != "--"])
        elif name == "set" and any(o in ("-a", "allexport") or (o[:1] == "-" and "a" in o[1:3]) for o in operands):
            self.export_all = True
        elif name in _PREPARES:
            self.notes.append(f"what `{shown(fields)}` sets is not known")
        elif name not in _WITHOUT_EFFECT:
            raise self.unreadable(fields)

    @staticmethod
    def unreadable(fields: list[str]) -> UsageProblem:
        return UsageProblem(
            f"cannot read `{shown(fields)}`: the last command of a line is taken for the launch, and before it only "
            "NAME=value, export, unset, cd and source are read; give the launch alone"
        )

    def assign(self, word: Word) -> None:
        name = word.assigns or ""
        self.variables[name] = self.expander.assigned(word)
        self.assigned[name] = None
        if self.export_all:
            self.exported.add(name)

    def declare(self, words: list[Word]) -> None:
        """``export`` and its kin: an assignment among the words is one, whatever is in its value."""
        options = ""
        names: list[str] = []
        verb = self.expander.value(words[0])
        for word in words[1:]:
            if word.assigns:
                self.assign(word)
                names.append(word.assigns)
            else:
                for field in self.expander.fields(word):
                    if field.startswith("-"):
                        options += field[1:]
                    elif "=" in field:
                        name, _, value = field.partition("=")
                        self.variables[name] = value
                        self.assigned[name] = None
                        names.append(name)
                    else:
                        names.append(field)
        if verb == "export" or "x" in options:
            if "n" in options:
                self.exported.difference_update(names)
            else:
                self.exported.update(names)

    def enter(self, operands: list[str]) -> None:
        target = operands[0] if operands else (self.expander.home or "~")
        if target.startswith(("/", "~", "$")) or self.folder is None:
            self.folder = target
        else:
            self.folder = f"{self.folder.rstrip('/')}/{target}"

    def finish(self, command: Command) -> LastCommand:
        assignments, words = _without_assignments(command)
        # The words of a command are expanded before the assignments in front of it take effect.
        fields = tuple(field for word in words for field in self.expander.fields(word))
        if not fields:
            raise UsageProblem("the line only sets variables: give the launch to check behind them")
        unseen = [name for name in self.assigned if name not in self.exported and name not in self.expander.used]
        if unseen:
            self.notes.append(f"{', '.join(unseen)}: set but not exported, so the engine does not see it")
        env = {name: value for name, value in self.variables.items() if name in self.exported}
        for word in assignments:
            self.assign(word)
            env[word.assigns or ""] = self.variables[word.assigns or ""]
        values = (*fields, *env.values())
        unknown = tuple(text for text in self.expander.unknown if any(text in value for value in values))
        return LastCommand(fields, env, dict(self.variables), self.folder, unknown, tuple(self.notes))


def _without_assignments(command: Command) -> tuple[list[Word], list[Word]]:
    """The assignments at the start of ``command``, and the words behind them."""
    words = list(command.words)
    count = 0
    while count < len(words) and words[count].assigns:
        count += 1
    return words[:count], words[count:]
