"""A raise site: a place in source that can end a start with an exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gonogo.source.templates import Template, collapse

Kind = Literal["raise", "assert", "call"]


@dataclass(frozen=True)
class RaiseSite:
    """One ``raise``, ``assert``, or call that never returns (``parser.error(...)``, ``sys.exit(...)``).

    ``exception`` is the type as written, last component (``ValueError``, ``HTTPException``); ``AssertionError`` for an
    assert, ``ArgumentError`` for a parser's error, ``SystemExit`` for an exit; None where source does not say it (a
    re-raise, an exception from elsewhere). ``message`` describes ``str()`` of the exception: no parts where it has no
    arguments, None where source does not say. ``condition`` is the source text of what an assert asserts. ``function``
    is the qualname of what the site stands in, ``<module>`` at the top of a file. Lines count from 1 and both belong
    to the site.
    """

    kind: Kind
    exception: str | None
    message: Template | None
    condition: str | None
    function: str
    line_first: int
    line_last: int

    @property
    def template(self) -> str | None:
        """What names the error in an id: the message's normal form, or an assert's condition where that tells nothing.

        Empty for ``raise X`` without arguments; None where source does not say the message.
        """
        if self.message is None:
            return None
        if self.condition is not None and not any(each.is_telling for each in self.message.alternatives()):
            return collapse(self.condition)
        return self.message.text

    @property
    def templates(self) -> tuple[str, ...]:
        """``template``, or one for each text where code chooses between whole messages; empty where it is None."""
        if self.template is None or self.message is None:
            return ()
        if self.message.is_telling or self.template != self.message.text:
            return (self.template,)
        return tuple(dict.fromkeys(each.text for each in self.message.alternatives()))
