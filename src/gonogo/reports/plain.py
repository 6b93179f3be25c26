"""Text from elsewhere made fit for a terminal: no control characters, wrapped, not endless."""

from __future__ import annotations

import textwrap
import unicodedata

_LONGEST = 1000


def safe(text: str) -> str:
    """``text`` on one line: what does not print is written as its escape in Python, any kind of space as a space."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def wrapped(text: str, width: int, indent: str, first: str | None = None) -> list[str]:
    """The lines of ``text``, its own line breaks kept, blank lines not, none wider than ``width`` unless one word is.

    Each line starts with ``indent``, the first with ``first`` where given. Of a text beyond 4,000 characters the rest
    is left out, and said to be.
    """
    rest = len(text) - _LONGEST
    lines: list[str] = []
    # Only \n and its kin break lines; str.splitlines knows characters that no terminal does.
    for line in text[:_LONGEST].replace("\r\n", "\n").split("\n"):
        if not line.strip():
            continue
        start = indent if lines or first is None else first
        own = "" if not lines else " " * min(len(line) - len(line.lstrip(" ")), 8)
        lines += textwrap.wrap(
            safe(line.replace("\t", " ").strip()),
            max(width, 20),
            initial_indent=start + own,
            subsequent_indent=indent + own,
            break_long_words=False,
            break_on_hyphens=False,
        )
    if not lines and first is not None:
        lines.append(first.rstrip())
    if rest > 0:
        lines.append(f"{indent}... and {rest} more characters (--json shows all)")
    return lines


def shortened(text: str, longest: int) -> str:
    """``text`` on one line, cut to ``longest`` characters with ``...`` at the end where there is more."""
    line = safe(" ".join(text[: 4 * longest].split()))
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 3].rstrip() + "..."


def _escaped(char: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    return char.encode("unicode_escape").decode("ascii")
