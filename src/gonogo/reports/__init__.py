"""The result of a check in the formats that people and programs read: one file a format, one interface."""

from __future__ import annotations

from typing import TextIO

from gonogo.problems import UsageProblem
from gonogo.reports.interface import Report
from gonogo.reports.json_report import JSONReport, render_problem
from gonogo.reports.terminal import Colour, TerminalReport

REPORTS = ("text", "json")

__all__ = ["REPORTS", "Colour", "JSONReport", "Report", "TerminalReport", "render_problem", "report_named"]


def report_named(name: str, *, stream: TextIO | None = None, colour: Colour = "auto") -> Report:
    """The report that ``--format`` calls ``name``, fit for ``stream`` (stdout unless given).

    Raises UsageProblem for a format that gonogo does not know.
    """
    if name == "text":
        return TerminalReport.for_stream(stream, colour)
    if name == "json":
        return JSONReport()
    raise UsageProblem(f"unknown format {name!r}: choose {' or '.join(REPORTS)}")
