"""Text expressions: what an expression of Python source says of the string it gives, without running it."""

from __future__ import annotations

import ast
import re
import string
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gonogo.source.templates import Parts, Placeholder

_MOST_CHOICES = 12
_LONGEST_REPEAT = 400
_PERCENT = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<spec>[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?)[hlL]?(?P<letter>[diouxXeEfFgGcrsa%])"
)
_INDENT = re.compile(r"\n[ \t]+")
_STRIPS: dict[str, tuple[bool, bool]] = {"strip": (True, True), "lstrip": (True, False), "rstrip": (False, True)}
_CONVERSIONS = {-1: "", 97: "a", 114: "r", 115: "s"}


@dataclass(frozen=True)
class Made:
    """An exception that code has made and kept under a name: its type as written, and its message."""

    exception: str | None
    message: Parts | None


Known = Parts | Made


class Names:
    """What is known of names (``msg``, ``self.MSG``) at one place: their text, or the exception kept under them.

    ``constants`` are those of the module and the class around; what a function does to its own names stands above them.
    """

    def __init__(self, constants: Mapping[str, Parts]) -> None:
        """Nothing local is known at the start."""
        self.constants = constants
        self._local: dict[str, Known | None] = {}

    def get(self, name: str) -> Known | None:
        """What is known of ``name``; None: nothing."""
        return self._local[name] if name in self._local else self.constants.get(name)

    def put(self, name: str, known: Known | None) -> None:
        """From here on ``known`` holds for ``name``; None: nothing does any more."""
        if known is not None or name in self._local or name in self.constants:
            self._local[name] = known

    def copy(self) -> Names:
        """The same knowledge, to be changed apart from this."""
        copied = Names(self.constants)
        copied._local = dict(self._local)
        return copied

    @property
    def local(self) -> set[str]:
        """The names that something local is noted of."""
        return set(self._local)


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` for a name or a chain of attributes on one; None for anything else."""
    tail: list[str] = []
    while isinstance(node, ast.Attribute):
        tail.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(tail)])


def source_of(node: ast.expr) -> str:
    """The source text of an expression, on one line."""
    return dotted(node) or ast.unparse(node)


def text_of(node: ast.expr, names: Names) -> Parts:
    """The text that ``str()`` of the expression gives: a placeholder where nothing is known of it."""
    known = known_text(node, names)
    return _opaque(node) if known is None else known


def _opaque(node: ast.expr) -> Parts:
    return (str(node.value),) if isinstance(node, ast.Constant) else (Placeholder(source_of(node)),)


def known_text(node: ast.expr, names: Names) -> Parts | None:
    """The text of an expression of which at least a part is known from source; None where nothing is."""
    reader = _READERS.get(type(node))
    return reader(node, names) if reader else None


def tuple_text(nodes: Sequence[ast.expr], names: Names) -> Parts:
    """The text of a tuple of these expressions: what ``str()`` of an exception with several arguments gives."""
    parts: list[str | Placeholder] = ["("]
    for index, node in enumerate(nodes):
        parts += [", "] if index else []
        known = known_text(node, names)
        if known is not None:
            parts += _quoted(known)
        elif isinstance(node, ast.Constant):
            parts.append(repr(node.value))
        else:
            parts.append(Placeholder(source_of(node), conversion="r"))
    return (*parts, ",)" if len(nodes) == 1 else ")")


def either(choices: Sequence[Parts], expression: str) -> Parts:
    """The text that is one of ``choices``; what all of them start with stands before the choice."""
    distinct = list(dict.fromkeys(choices))
    shared: list[str | Placeholder] = []
    for column in zip(*distinct, strict=False):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    if len(distinct) == 1:
        return distinct[0]
    rests = tuple(choice[len(shared) :] for choice in distinct)
    return (*shared, Placeholder(expression, choices=rests if len(rests) <= _MOST_CHOICES else ()))


def _constant(node: ast.expr, _names: Names) -> Parts | None:
    assert isinstance(node, ast.Constant)
    return (node.value,) if isinstance(node.value, str) else None


def _name(node: ast.expr, names: Names) -> Parts | None:
    name = dotted(node)
    known = names.get(name) if name else None
    return None if isinstance(known, Made) else known


def _fstring(node: ast.expr, names: Names) -> Parts:
    assert isinstance(node, ast.JoinedStr)
    parts: list[str | Placeholder] = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            parts += _formatted(value, names)
        else:
            parts += text_of(value, names)
    return tuple(parts)


def _formatted(node: ast.FormattedValue, names: Names) -> Parts:
    conversion = _CONVERSIONS.get(node.conversion, "")
    spec = _spec(node.format_spec) if node.format_spec is not None else ""
    return _placed(node.value, conversion, spec, names)


def _spec(node: ast.expr) -> str:
    if not isinstance(node, ast.JoinedStr):
        return source_of(node)
    pieces = (
        f"{{{source_of(part.value)}}}" if isinstance(part, ast.FormattedValue) else str(getattr(part, "value", ""))
        for part in node.values
    )
    return "".join(pieces)


def _placed(node: ast.expr, conversion: str, spec: str, names: Names) -> Parts:
    if conversion in ("", "s") and not spec:
        return text_of(node, names)
    return (Placeholder(source_of(node), conversion, spec),)


def _operation(node: ast.expr, names: Names) -> Parts | None:
    assert isinstance(node, ast.BinOp)
    if isinstance(node.op, ast.Add):
        left, right = known_text(node.left, names), known_text(node.right, names)
        if left is None and right is None:
            return None
        return (*(_opaque(node.left) if left is None else left), *(_opaque(node.right) if right is None else right))
    left = known_text(node.left, names)
    if left is None:
        return None
    if isinstance(node.op, ast.Mod):
        return _percent(left, node.right, names)
    if isinstance(node.op, ast.Mult) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
        return left * node.right.value if node.right.value <= _LONGEST_REPEAT else None
    return None


def _percent(left: Parts, right: ast.expr, names: Names) -> Parts:
    items = zip(right.keys, right.values, strict=True) if isinstance(right, ast.Dict) else ()
    keyed = {key.value: value for key, value in items if isinstance(key, ast.Constant)}
    queue = list(right.elts) if isinstance(right, ast.Tuple) else [right]

    def value_at(match: re.Match[str]) -> Parts:
        spec, letter = match["spec"], match["letter"]
        for _ in range(spec.count("*")):
            queue[:1] = []
        if match["key"] is not None:
            node = keyed.get(match["key"])
            missing = f"{source_of(right)}[{match['key']!r}]"
        else:
            node = queue.pop(0) if queue else None
            missing = source_of(right)
        conversion = letter if letter in "ra" else ""
        if node is None or isinstance(node, ast.Starred):
            return (Placeholder(missing, conversion, spec),)
        return _placed(node, conversion, spec + ("" if letter in "sra" else letter), names)

    parts: list[str | Placeholder] = []
    for part in left:
        if not isinstance(part, str):
            parts.append(part)
            continue
        end = 0
        for match in _PERCENT.finditer(part):
            parts.append(part[end : match.start()])
            parts += ("%",) if match["letter"] == "%" else value_at(match)
            end = match.end()
        parts.append(part[end:])
    return tuple(parts)


def _call(node: ast.expr, names: Names) -> Parts | None:
    assert isinstance(node, ast.Call)
    function = node.func
    if isinstance(function, ast.Attribute) and (method := _METHODS.get(function.attr)):
        return method(function.value, node, names)
    called = dotted(function)
    name = called.rpartition(".")[2] if called else None
    if len(node.args) == 1 and not node.keywords:
        if name == "str" and called == name:
            return known_text(node.args[0], names)
        if name in ("dedent", "cleandoc"):
            return _dedented(known_text(node.args[0], names), strip=name == "cleandoc")
        # gettext marks the text and gives it back; argparse and click write their messages so.
        if called == "_":
            return known_text(node.args[0], names)
    return None


def _format(receiver: ast.expr, call: ast.Call, names: Names) -> Parts | None:
    known = known_text(receiver, names)
    if known is None:
        return None
    keyed = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    starred = any(isinstance(arg, ast.Starred) for arg in call.args)
    count = 0
    parts: list[str | Placeholder] = []
    for part in known:
        if not isinstance(part, str):
            parts.append(part)
            continue
        try:
            fields = list(string.Formatter().parse(part))
        except ValueError:
            parts.append(part)
            continue
        for literal, field, spec, conversion in fields:
            parts.append(literal)
            if field is None:
                continue
            head = re.split(r"[.\[]", field, maxsplit=1)[0]
            rest = field[len(head) :]
            if not head:
                head, count = str(count), count + 1
            node = keyed.get(head)
            if head.isdecimal() and not starred and int(head) < len(call.args):
                node = call.args[int(head)]
            if node is None or rest:
                expression = (source_of(node) if node is not None else head) + rest
                parts.append(Placeholder(expression, conversion or "", spec or ""))
            else:
                parts += _placed(node, conversion or "", spec or "", names)
    return tuple(parts)


def _join(receiver: ast.expr, call: ast.Call, names: Names) -> Parts | None:
    separator = known_text(receiver, names)
    if separator is None or len(call.args) != 1:
        return None
    listed = call.args[0]
    if not isinstance(listed, ast.List | ast.Tuple) or any(isinstance(item, ast.Starred) for item in listed.elts):
        return None
    parts: list[str | Placeholder] = []
    for index, item in enumerate(listed.elts):
        parts += separator if index else ()
        parts += text_of(item, names)
    return tuple(parts)


def _strip(receiver: ast.expr, call: ast.Call, names: Names) -> Parts | None:
    known = known_text(receiver, names)
    assert isinstance(call.func, ast.Attribute)
    if known is None or call.args:
        return None
    left, right = _STRIPS[call.func.attr]
    parts = list(known)
    if left and parts and isinstance(parts[0], str):
        parts[0] = parts[0].lstrip()
    if right and parts and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip()
    return tuple(parts)


_METHODS: dict[str, Callable[[ast.expr, ast.Call, Names], Parts | None]] = {
    "format": _format,
    "join": _join,
    **dict.fromkeys(_STRIPS, _strip),
}


def _dedented(known: Parts | None, *, strip: bool) -> Parts | None:
    if known is None:
        return None
    if all(isinstance(part, str) for part in known):
        whole = textwrap.dedent("".join(part for part in known if isinstance(part, str)))
        return (whole.strip() if strip else whole,)
    parts = [_INDENT.sub("\n", part) if isinstance(part, str) else part for part in known]
    if isinstance(parts[0], str):
        parts[0] = parts[0].lstrip() if strip else parts[0].lstrip(" \t")
    if strip and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip()
    return tuple(parts)


def _conditional(node: ast.expr, names: Names) -> Parts | None:
    assert isinstance(node, ast.IfExp)
    return _chosen([node.body, node.orelse], node, names)


def _fallback(node: ast.expr, names: Names) -> Parts | None:
    assert isinstance(node, ast.BoolOp)
    return _chosen(node.values, node, names) if isinstance(node.op, ast.Or) else None


def _chosen(nodes: Sequence[ast.expr], node: ast.expr, names: Names) -> Parts | None:
    known = [known_text(each, names) for each in nodes]
    if all(text is None for text in known):
        return None
    texts = [_opaque(each) if text is None else text for each, text in zip(nodes, known, strict=True)]
    return either(texts, source_of(node))


_READERS: dict[type[ast.expr], Callable[[ast.expr, Names], Parts | None]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _name,
    ast.JoinedStr: _fstring,
    ast.BinOp: _operation,
    ast.Call: _call,
    ast.IfExp: _conditional,
    ast.BoolOp: _fallback,
}


def _quoted(parts: Parts) -> Parts:
    """As ``repr`` of the text puts it; which quotes it takes depends on the values too, which are not known."""
    literal = "".join(part for part in parts if isinstance(part, str))
    quote = '"' if "'" in literal and '"' not in literal else "'"
    return (quote, *(_escaped(part, quote) if isinstance(part, str) else part for part in parts), quote)


def _escaped(text: str, quote: str) -> str:
    return "".join(("\\" if char == quote else "") + char if char in "'\"" else repr(char)[1:-1] for char in text)


def quoted_text(node: ast.expr, names: Names) -> Parts:
    """The text that ``repr()`` of the expression gives."""
    known = known_text(node, names)
    if known is not None:
        return _quoted(known)
    return (repr(node.value),) if isinstance(node, ast.Constant) else (Placeholder(source_of(node), conversion="r"),)
