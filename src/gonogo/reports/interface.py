"""What every report can do."""

from __future__ import annotations

from typing import Protocol

from gonogo.check.result import CheckResult


class Report(Protocol):
    """One format of the result of a check."""

    @property
    def name(self) -> str:
        """What ``--format`` calls it."""
        ...

    def render(self, result: CheckResult) -> str:
        """The whole text for stdout, with a newline at its end."""
        ...
