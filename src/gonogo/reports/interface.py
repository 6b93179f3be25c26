"""What every report can do."""

from __future__ import annotations

from typing import Protocol

from gonogo.check.result import CheckResult
from gonogo.problems import Problem


class Report(Protocol):
    """One format of the result. Each method gives the whole text for stdout, with a newline at its end."""

    @property
    def name(self) -> str:
        """What ``--format`` calls it."""
        ...

    @property
    def is_for_machines(self) -> bool:
        """Whether scripts read it: then problems belong on stdout in the same format, else one line on stderr."""
        ...

    def render(self, result: CheckResult) -> str:
        """The result of a check."""
        ...

    def render_problem(self, problem: Problem) -> str:
        """What went wrong instead of a result."""
        ...
