"""Shell text taken apart: statements, pipelines and words, quotes and expansions as bash reads them.

Nothing is ever run: what a command substitution would print, and what a variable holds that the text itself does not
set, is unknown and said to be so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gonogo.problems import UsageProblem

_ORDINARY = re.compile(r"[^ \t\n\r'\"\\$`;&|<>()#]+")
_IN_DOUBLE_QUOTES = re.compile(r"[^\"\\$`]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL_PARAMETER = re.compile(r"[0-9@*#?$!-]")
_REDIRECTION = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|<|>>|>&|>\||>")
# What documents write where the reader is to put something: <MODEL> (a shell would read from a file MODEL), {{ port }},
# {port}, and ... for the rest.
_ANGLED = r"<[A-Za-z](?:[^<>|&;'\"\n]*[^<>|&;'\"\s])?>"
_PLACEHOLDER = re.compile(
    _ANGLED + r"|\{\{[^{}\n]*\}\}|\{[A-Za-z_][A-Za-z0-9_]*\}|(?<![^\s=])(?:\.\.\.|\u2026)(?![^\s;&|)])"
)
_LONGEST_PLACEHOLDER = 80
_OPERATOR = re.compile(r"&&|\|\||;;|\|&|[;&|()\n]")
_PARAMETER = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-+=?])(.*))?", re.DOTALL)
_ANSI_C = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_ANSI_C_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_SEPARATOR = (" ", "\t", "\n")  # $IFS; other white space is part of a word
_SEPARATORS = re.compile(r"[ \t\n]+")
_MOST_BRACES = (
    200  # bash has no limit; a line somebody wrote by hand stays far below, and {a,b}{a,b}... doubles each time
)
_MOST_FIELDS = 10_000


class UnclosedProblem(UsageProblem):
    """A quote, brace or parenthesis is never closed: what was given is only the beginning of a command, or wrong."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a word of one kind.

    Plain text, ``$NAME`` (``text`` is what stands in the braces), ``$(...)``, or a placeholder as documents have it.
    """

    kind: Literal["text", "parameter", "substitution", "placeholder"]
    text: str
    quoted: bool


@dataclass(frozen=True)
class Word:
    """One word before expansion. ``position`` is its offset in the text."""

    pieces: tuple[Piece, ...]
    position: int

    @property
    def assigns(self) -> str | None:
        """The name where the word is an assignment (``NAME=value``), else None."""
        if not self.pieces or self.pieces[0].kind != "text":
            return None
        found = _NAME.match(self.pieces[0].text)
        if not found or self.pieces[0].text[found.end() : found.end() + 1] != "=":
            return None
        return found[0]


@dataclass(frozen=True)
class Command:
    """One simple command: its words; redirections are left out."""

    words: tuple[Word, ...]


@dataclass(frozen=True)
class Statement:
    """A pipeline and the operator behind it (``&&``, ``||``, ``;``, ``&``, a line break, or nothing)."""

    pipeline: tuple[Command, ...]
    followed_by: str


@dataclass
class Expander:
    """Turns words into what a command would get, given the values of ``variables``.

    ``home`` is what ``~`` stands for (None: it stays as it is) and ``braces`` whether ``{a,b}`` is expanded, which sh
    does not. What has no known value stays in the text as ``${NAME}`` or ``$(...)`` and is put down in ``unknown``;
    ``used`` are the variables that were asked for.
    """

    variables: Mapping[str, str]
    home: str | None = None
    braces: bool = True
    unknown: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def fields(self, word: Word) -> list[str]:
        """The words that ``word`` becomes: none for an empty unquoted variable, several where one is split."""
        out: list[str] = []
        for pieces in _expand_braces(word.pieces) if self.braces else [word.pieces]:
            out += self._split(self._at_home(pieces))
        return out

    def value(self, word: Word) -> str:
        """The one string that ``word`` becomes where the shell splits nothing, as on the right of an assignment."""
        return "".join(map(self._text, self._at_home(word.pieces, assigned=True)))

    def assigned(self, word: Word) -> str:
        """The value that an assignment word gives to its name."""
        name = word.assigns or ""
        first = word.pieces[0]
        rest = Piece(first.kind, first.text[len(name) + 1 :], first.quoted)
        return self.value(Word((rest, *word.pieces[1:]) if rest.text else word.pieces[1:], word.position))

    def _at_home(self, pieces: tuple[Piece, ...], assigned: bool = False) -> tuple[Piece, ...]:
        """``pieces`` with home for ``~`` at their start and, in what is (or looks) assigned, behind each colon."""
        if self.home is None or not pieces or pieces[0].kind != "text" or pieces[0].quoted or "~" not in pieces[0].text:
            return pieces
        text = pieces[0].text
        name = _NAME.match(text)
        front = text[: name.end() + 1] if name and text[name.end() : name.end() + 1] == "=" and not assigned else ""
        parts = text[len(front) :].split(":") if front or assigned else [text]
        for position, part in enumerate(parts):
            # A quote or a variable right behind it makes `~` the start of somebody's name.
            ends = position < len(parts) - 1 or len(pieces) == 1
            if part.startswith(("~/", "~:")) or (part == "~" and ends):
                parts[position] = self.home + part[1:]
        return (Piece("text", front + ":".join(parts), quoted=False), *pieces[1:])

    def _split(self, pieces: tuple[Piece, ...]) -> list[str]:
        done: list[str] = []
        current: list[str] = []
        started = False
        for piece in pieces:
            text = self._text(piece)
            if self._is_split(piece, text):
                parts = [part for part in _SEPARATORS.split(text) if part]
                if text[:1] in _SEPARATOR and started:
                    done.append("".join(current))
                    current, started = [], False
                for number, part in enumerate(parts):
                    if number:
                        done.append("".join(current))
                        current = []
                    current.append(part)
                    started = True
                if parts and text[-1:] in _SEPARATOR:
                    done.append("".join(current))
                    current, started = [], False
                continue
            current.append(text)
            started = True
        if started:
            done.append("".join(current))
        return done

    def _is_split(self, piece: Piece, text: str) -> bool:
        """Whether blanks in what ``piece`` stands for part words: not where it is quoted, or unknown."""
        is_plain = piece.kind == "parameter" and not piece.quoted and not ("'" in piece.text or '"' in piece.text)
        return is_plain and text not in self.unknown

    def _unknown(self, text: str) -> str:
        if text not in self.unknown:
            self.unknown.append(text)
        return text

    def _text(self, piece: Piece) -> str:
        if piece.kind == "text":
            return piece.text
        if piece.kind == "placeholder":
            return self._unknown(piece.text)
        if piece.kind == "substitution":
            if piece.text.strip("$()` ") == "pwd" and "PWD" in self.variables:
                return self.variables["PWD"]
            return self._unknown(piece.text)
        found = _PARAMETER.fullmatch(piece.text)
        if found is None:
            return self._unknown("${" + piece.text + "}")
        name, operator, other = found.groups()
        self.used.add(name)
        if operator is None:
            return self.variables[name] if name in self.variables else self._unknown("${" + name + "}")
        has_value = name in self.variables and (bool(self.variables[name]) or not operator.startswith(":"))
        if operator[-1] == "+":
            return self._nested(other) if has_value else ""
        if has_value:
            return self.variables[name]
        if operator[-1] == "?":
            return self._unknown("${" + name + "}")
        if name not in self.variables:
            self.notes.append(f"{name} is taken to be unset, so its default stands")
        return self._nested(other)

    def _nested(self, text: str) -> str:
        """What stands behind ``:-`` in ``${NAME:-...}``: itself subject to expansion."""
        statements = statements_of(text) if "$" in text or "`" in text else []
        if len(statements) == 1 and len(statements[0].pipeline) == 1 and len(statements[0].pipeline[0].words) == 1:
            return self.value(statements[0].pipeline[0].words[0])
        return self._unknown(text) if statements else text.replace('"', "").replace("'", "")


def statements_of(text: str) -> list[Statement]:
    """``text`` as statements, empty ones left out.

    Raises UnclosedProblem for a quote, brace or parenthesis that is never closed, and UsageProblem for what is more than
    simple commands in a row: subshells, functions, loops, here-documents.
    """
    if "\0" in text:
        raise UsageProblem("the command has a NUL byte in it, which no command line can carry: take it out")
    return _Reader(text).statements()


class _Reader:
    """One pass over shell text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def place(self, position: int) -> str:
        """Where ``position`` is, as people count: a column, and the line where there is more than one."""
        line = self.text.count("\n", 0, position) + 1
        column = position - (self.text.rfind("\n", 0, position) + 1) + 1
        return f"line {line}, column {column}" if "\n" in self.text else f"column {column}"

    def statements(self) -> list[Statement]:
        statements: list[Statement] = []
        pipeline: list[Command] = []
        words: list[Word] = []
        while True:
            self._skip_blanks()
            operator = self._operator()
            if operator is None and self.at < len(self.text):
                if self._redirection(words):
                    continue
                words.append(self._word())
                continue
            if operator in ("(", ")", ";;"):
                raise UsageProblem(
                    f"cannot read {operator!r} at {self.place(self.at - len(operator))}: gonogo reads plain commands, "
                    "no subshells or functions; give the launch alone, and quote a Python expression as one word"
                )
            if words:
                pipeline.append(Command(tuple(words)))
                words = []
            if operator in ("|", "|&"):
                continue
            if pipeline:
                statements.append(Statement(tuple(pipeline), operator or ""))
                pipeline = []
            if operator is None:
                return statements

    def _skip_blanks(self) -> None:
        text = self.text
        while self.at < len(text):
            if text[self.at] in " \t":
                self.at += 1
            elif text.startswith("\\\n", self.at) or text.startswith("\r\n", self.at):
                self.at += 2 if text[self.at] == "\\" else 1
            elif text.startswith("\\\r\n", self.at):
                self.at += 3
            elif text[self.at] == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            else:
                return

    def _operator(self) -> str | None:
        if self.text.startswith("&>", self.at):
            return None
        found = _OPERATOR.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def _redirection(self, words: list[Word]) -> bool:
        """Step over a redirection and its target, if one stands here; ``words`` loses a file descriptor before it."""
        found = _REDIRECTION.match(self.text, self.at)
        if found is None or self.text.startswith("(", found.end()) or _PLACEHOLDER.match(self.text, self.at):
            return False
        if found[0].startswith("<<") and found[0] != "<<<":
            raise UsageProblem(f"cannot read the here-document at {self.place(self.at)}: give the launch alone")
        before = words[-1] if words else None
        if (
            before is not None
            and len(before.pieces) == 1
            and not before.pieces[0].quoted
            and before.pieces[0].text.isdigit()
            and before.position + len(before.pieces[0].text) == self.at
        ):
            words.pop()
        self.at = found.end()
        self._skip_blanks()
        if self.at >= len(self.text) or self._operator() is not None:
            raise UsageProblem(f"nothing stands behind {found[0]!r} at {self.place(found.start())}: name a file")
        self._word()
        return True

    def _word(self) -> Word:
        text, start = self.text, self.at
        pieces: list[Piece] = []
        while self.at < len(text):
            char = text[self.at]
            ordinary = _ORDINARY.match(text, self.at)
            if ordinary:
                end = ordinary.end()
                placeholder = _PLACEHOLDER.search(text, self.at, end + _LONGEST_PLACEHOLDER)
                if placeholder and placeholder.start() < end:
                    end = placeholder.start()
                if end > self.at:
                    pieces.append(Piece("text", text[self.at : end], quoted=False))
                    self.at = end
                    continue
            else:
                placeholder = _PLACEHOLDER.match(text, self.at)
            if placeholder:
                self.at = placeholder.end()
                pieces.append(Piece("placeholder", placeholder[0], quoted=False))
            elif char == "#":
                self.at += 1
                pieces.append(Piece("text", "#", quoted=False))
            elif char == "'":
                pieces.append(Piece("text", self._until_quote("'"), quoted=True))
            elif char == '"':
                pieces += self._double_quoted()
            elif char == "\\":
                if text.startswith("\n", self.at + 1):
                    self.at += 2
                    continue
                pieces.append(Piece("text", text[self.at + 1 : self.at + 2] or "\\", quoted=True))
                self.at += 2
            elif char == "$":
                pieces += self._dollar(quoted=False)
            elif char == "`":
                pieces.append(Piece("substitution", self._backticks(), quoted=False))
            elif char in "<>" and text.startswith("(", self.at + 1):
                self.at += 1
                pieces.append(Piece("substitution", char + self._bracketed("(", ")"), quoted=True))
            elif char == "\r" and not text.startswith("\r\n", self.at):
                self.at += 1
                pieces.append(Piece("text", "\r", quoted=False))
            else:
                break
        if self.at == start:
            raise UsageProblem(
                f"cannot read {text[start]!r} at {self.place(start)}: give the launch alone, as one plain command"
            )
        return Word(_joined(pieces), start)

    def _unclosed(self, what: str, start: int) -> UnclosedProblem:
        return UnclosedProblem(
            f"the {what} opened at {self.place(start)} is never closed: close it, or escape it with a backslash"
        )

    def _until_quote(self, quote: str) -> str:
        start = self.at
        end = self.text.find(quote, start + 1)
        if end < 0:
            raise self._unclosed(f"quote {quote}", start)
        self.at = end + 1
        return self.text[start + 1 : end]

    def _double_quoted(self) -> list[Piece]:
        text, start = self.text, self.at
        pieces: list[Piece] = [Piece("text", "", quoted=True)]
        self.at += 1
        while self.at < len(text):
            char = text[self.at]
            if char == '"':
                self.at += 1
                return pieces
            ordinary = _IN_DOUBLE_QUOTES.match(text, self.at)
            if ordinary:
                self.at = ordinary.end()
                pieces.append(Piece("text", ordinary[0], quoted=True))
            elif char == "\\":
                following = text[self.at + 1 : self.at + 2]
                kept = {"\n": "", "$": "$", "`": "`", '"': '"', "\\": "\\"}.get(following, "\\" + following)
                pieces.append(Piece("text", kept, quoted=True))
                self.at += 2
            elif char == "$":
                pieces += self._dollar(quoted=True)
            else:
                pieces.append(Piece("substitution", self._backticks(), quoted=True))
        raise self._unclosed('quote "', start)

    def _dollar(self, quoted: bool) -> list[Piece]:
        text, start = self.text, self.at
        self.at += 1
        following = text[self.at : self.at + 1]
        if following == "(":
            return [Piece("substitution", "$" + self._bracketed("(", ")"), quoted)]
        if following == "{":
            return [Piece("parameter", self._bracketed("{", "}")[1:-1], quoted)]
        if following == "'" and not quoted:
            return [Piece("text", self._ansi_c(), quoted=True)]
        if following == '"' and not quoted:
            return self._double_quoted()
        found = _NAME.match(text, self.at) or _SPECIAL_PARAMETER.match(text, self.at)
        if found is None:
            return [Piece("text", text[start : self.at], quoted)]
        self.at = found.end()
        return [Piece("parameter", found[0], quoted)]

    def _ansi_c(self) -> str:
        start = self.at
        end = start + 1
        while True:
            end = self.text.find("'", end)
            if end < 0:
                raise self._unclosed("quote $'", start - 1)
            before = self.text[start + 1 : end]
            if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
                break
            end += 1
        self.at = end + 1
        return _ANSI_C_ESCAPE.sub(_ansi_c_char, self.text[start + 1 : end])

    def _backticks(self) -> str:
        start = self.at
        end = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL).match(self.text, start)
        if end is None:
            raise self._unclosed("quote `", start)
        self.at = end.end()
        return end[0]

    def _bracketed(self, opening: str, closing: str) -> str:
        """The text from the bracket here to its partner, both included; quotes inside are respected."""
        start, depth = self.at, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self.at += 2
                continue
            if char == "'" and opening == "(":
                self._until_quote("'")
                continue
            if char == opening:
                depth += 1
            elif char == closing:
                depth -= 1
                if depth == 0:
                    self.at += 1
                    return self.text[start : self.at]
            self.at += 1
        raise self._unclosed(f"bracket {opening}", start)


def _ansi_c_char(found: re.Match[str]) -> str:
    for number, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if found[number]:
            code = int(found[number], base)
            return chr(code) if 0 < code < 0x110000 else ""
    char = found[5]
    return _ANSI_C.get(char) or (char if char in "\\'\"?" else "\\" + char)


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Neighbours that are plain text of the same kind as one piece: a long word stays one string."""
    out: list[Piece] = []
    run: list[str] = []
    for position, piece in enumerate(pieces):
        run.append(piece.text)
        following = pieces[position + 1] if position + 1 < len(pieces) else None
        if piece.kind == "text" and following and following.kind == "text" and following.quoted == piece.quoted:
            continue
        out.append(Piece(piece.kind, "".join(run), piece.quoted))
        run = []
    return tuple(out)


def _expand_braces(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """``a{b,c}d`` as ``abd`` and ``acd``, as bash does before anything else; a word without such braces stays one."""
    plain = "".join(piece.text for piece in pieces if piece.kind == "text" and not piece.quoted)
    if not ("{" in plain and "," in plain and "}" in plain):
        return [pieces]
    if plain.count("{") + plain.count("}") + plain.count(",") > _MOST_BRACES:
        return [pieces]
    atoms: list[Piece] = []
    for piece in pieces:
        if piece.kind == "text" and not piece.quoted:
            atoms += [Piece("text", part, quoted=False) for part in re.split(r"([{},])", piece.text) if part]
        else:
            atoms.append(piece)
    return [_joined(list(word)) for word in _alternatives(tuple(atoms))]


def _alternatives(atoms: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    for start, atom in enumerate(atoms):
        if atom != Piece("text", "{", quoted=False):
            continue
        depth, cuts = 0, [start]
        for end in range(start, len(atoms)):
            inner = atoms[end]
            if inner.kind != "text" or inner.quoted:
                continue
            depth += {"{": 1, "}": -1}.get(inner.text, 0)
            if depth == 1 and inner.text == ",":
                cuts.append(end)
            if depth == 0:
                break
        else:
            continue
        if len(cuts) == 1:
            continue
        middles = [
            alternative
            for cut, following in zip(cuts, [*cuts[1:], end], strict=True)
            for alternative in _alternatives(atoms[cut + 1 : following])
        ]
        rests = _alternatives(atoms[end + 1 :])
        if len(middles) * len(rests) > _MOST_FIELDS:
            raise UsageProblem("the braces {a,b} of this line stand for too many words: write the launch out")
        return [atoms[:start] + middle + rest for middle in middles for rest in rests]
    return [atoms]
