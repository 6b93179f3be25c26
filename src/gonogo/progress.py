"""One line of progress on a terminal's stderr; silence when piped."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO


class Progress:
    """Says what is going on, on one line that is overwritten; says nothing where ``stream`` is no terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """``stream`` is stderr unless given."""
        self._stream: TextIO | None = sys.stderr if stream is None else stream  # None: stderr is closed
        self._shown = 0

    def say(self, text: str) -> None:
        """Show ``text`` in place of what was shown before, cut to one line."""
        if self._stream is not None and self._stream.isatty():
            text = text[: shutil.get_terminal_size().columns - 1]
            self._stream.write("\r" + text.ljust(self._shown))
            self._stream.flush()
            self._shown = len(text)

    def clear(self) -> None:
        """Take the line away, so that the result starts on a clean one."""
        if self._stream is not None and self._shown:
            self._stream.write("\r" + " " * self._shown + "\r")
            self._stream.flush()
            self._shown = 0
