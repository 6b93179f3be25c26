"""The id of an error: the same for the same error in every release, wherever its line has moved."""

from __future__ import annotations

import hashlib
import re

from gonogo.source.templates import HOLE, collapse
from gonogo.source.types import RaiseSite

_DIGITS = 16
_SAME_TYPE = {"IOError": "OSError", "EnvironmentError": "OSError"}

_VALUE = re.compile(
    r"""
    (?<!\w)(?:[rbfu]|rb)?'(?:\\.|[^'\\\n])*'(?!\w)      # 'quoted' (the ' of can't has a letter on both sides)
    | (?<!\w)(?:[rbfu]|rb)?"(?:\\.|[^"\\\n])*"(?!\w)    # "quoted"
    | \b[a-z][a-z0-9+.-]*://[^\s,;'"<>()\[\]{}]+        # an address
    | (?<![\w.~/-])(?:\.{1,2}|~)?(?:/[\w.+@~=-]+)+/?    # /a/path, ./a/path
    | (?<![\w./-])(?:[\w.+@~=-]+/)+[\w.+@~=-]*          # a/path, an/organisation's-model
    | <[^<>]*\sat\s0x[0-9a-f]+>                         # <an object at 0x7f00>
    | (?<![\w.])0x[0-9a-fA-F]+\b
    | (?<![\w.-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)
    | (?<![\w.])[-+]?\d+(?:[.,:_-]\d+)*(?:\.(?!\w))?(?:[eE][-+]?\d+)?(?![\w])
    """,
    re.VERBOSE,
)
# pydantic ends each of its complaints with what it was given, cut to fit: quotes and brackets in it need not close.
_PYDANTIC_INPUT = re.compile(r"input_value=.*?, input_type=\w+\]", re.DOTALL)
_ITEM = r"(?:\{\}|None|True|False)"
_BRACKETED = re.compile(
    rf"(?<!\w)[\[(](?:{_ITEM}(?:, {_ITEM})*,?)?[\])]"  # [1, 2], (3,); not the brackets of f() or list[int]
    rf"|\{{{_ITEM}(?:: {_ITEM})?(?:, {_ITEM}(?:: {_ITEM})?)*\}}"  # {'a': 1}, {1, 2}
)
_LISTED = re.compile(r"\{\}(?:, \{\})+(?:,? (?:or|and) \{\})?|\{\} or \{\}")
_LONGEST = 20_000
_DEEPEST = 100

# What CPython's argparse says of a command line, by the values in it. The name of the argument stays: it is the error.
_ARGPARSE_FORMS = tuple(
    (re.compile(form, re.DOTALL), template)
    for form, template in (
        (r"invalid choice: .* \(choose from .*\)", "invalid choice: {} (choose from {})"),
        (r"invalid (?P<type>\S+) value: .*", "invalid {type} value: {}"),
        (r"ignored explicit argument .*", "ignored explicit argument {}"),
        (r"expected \d+ arguments?", "expected {} arguments"),
        (r"unknown parser .* \(choices: .*\)", "unknown parser {} (choices: {})"),
        (r"unrecognized arguments: .*", "unrecognized arguments: {}"),
        (r"ambiguous option: .* could match .*", "ambiguous option: {} could match {}"),
        (r"can't open '.*': .*", "can't open {}: {}"),
    )
)
_ARGPARSE_FIXED = re.compile(
    r"expected (?:one|at most one|at least one) argument|not allowed with argument .*"
    r"|the following arguments are required: .*|one of the arguments .* is required",
    re.DOTALL,
)
_OF_ARGUMENT = re.compile(r"argument (?P<name>[^\s:]+(?: [^\s:]+)*): (?P<rest>.*)", re.DOTALL)


def error_id(engine: str, exception_type: str, template: str) -> str:
    """16 hex digits that name an error: a digest over engine, exception type and the template in normal form.

    Neither path nor line counts: those move between releases.
    """
    kind = _bare(exception_type)
    parts = (engine, _SAME_TYPE.get(kind, kind), collapse(template))
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


def template_of(exception_type: str, message: str, site: RaiseSite | None) -> str:
    """The template of an error that was raised: its site's where that says one, else the message without its values.

    ``site`` is the raise site in source at the line that raised it, None where there is none. Of a site that chooses
    between messages, the one that this message fits counts.
    """
    exception_type = _bare(exception_type)
    if exception_type == "ArgumentError" and (form := _argparse_template(message)) is not None:
        return form
    if site is not None:
        own = _template_at(site, exception_type, message)
        if own is not None:
            return own
    return normalise_message(message)


def normalise_message(message: str) -> str:
    """A message with what looks like a value in it (numbers, quoted texts, paths, addresses, lists of those) as ``{}``.

    A guess at the template, for messages whose raise site is not in source that can be read.
    """
    text = collapse(_PYDANTIC_INPUT.sub("input_value={}, input_type={}]", message[:_LONGEST]))
    for _ in range(_DEEPEST):
        simpler = _BRACKETED.sub(HOLE, _VALUE.sub(HOLE, text))
        if simpler == text:
            simpler = _LISTED.sub(HOLE, text)
        if simpler == text:
            break
        text = simpler
    return text


def _bare(exception_type: str) -> str:
    return exception_type.rpartition(".")[2]


def _template_at(site: RaiseSite, exception_type: str, message: str) -> str | None:
    """What the site says of this error; None where it says too little, or the error only passed through its lines."""
    if site.message is None or site.template is None:
        return None
    if site.condition == site.template or not site.message.parts:
        return site.template if exception_type == site.exception else None
    for each in site.message.alternatives():
        if each.is_telling and each.pattern.fullmatch(message):
            return each.text
    # A class of the engine's own may write more around its message. Another type came out of making the exception.
    told = site.message.is_telling and site.exception in (None, exception_type)
    return site.template if told else None


def _argparse_template(message: str) -> str | None:
    named = _OF_ARGUMENT.fullmatch(message)
    rest = named["rest"] if named else message
    head = f"argument {named['name']}: " if named else ""
    if _ARGPARSE_FIXED.fullmatch(rest):
        return head + collapse(rest)
    for form, template in _ARGPARSE_FORMS:
        if match := form.fullmatch(rest):
            kind = match.groupdict().get("type")
            return head + (template.replace("{type}", kind) if kind else template)
    return head + normalise_message(rest) if named else None
