"""The report that people read: a block a launch, the verdict first."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO, get_args

from gonogo.check.result import Because, CheckResult, LaunchResult, WorldResult
from gonogo.dryrun.outcome import Error
from gonogo.models.types import Origin
from gonogo.reports.plain import safe, shortened, wrapped
from gonogo.reports.worlds import Alike, grouped, hardware_of, listed, place_of

Colour = Literal["auto", "always", "never"]

_PIPED_WIDTH = 100
_NARROWEST = 40
_MOST_WARNINGS = 3
_MOST_IN_HEADER = 4
_STYLES = {"GO": "1;32", "NO-GO": "1;31", "HOLD": "1;33", "bold": "1", "dim": "2"}
_WORDS = {"refused": "refused", "crashed": "crashes", "unclear": "unclear", "passed": "passes"}
_MODEL_FACTS = "model facts: "
_ORIGINS = set(get_args(Origin)) - {"stand-in"}


@dataclass(frozen=True)
class TerminalReport:
    """Text for a terminal of ``width`` columns; ``colour`` says whether it may be coloured."""

    width: int = _PIPED_WIDTH
    colour: bool = False
    name: str = "text"

    @classmethod
    def for_stream(cls, stream: TextIO | None = None, colour: Colour = "auto") -> TerminalReport:
        """Fit for where it is written to (stdout unless given): as wide as a terminal, coloured only on one.

        NO_COLOR and a dumb terminal turn colour off; ``always`` and ``never`` stand above all that.
        """
        stream = sys.stdout if stream is None else stream
        on_terminal = stream is not None and stream.isatty()  # None: closed by whoever started us
        wanted = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        width = max(shutil.get_terminal_size().columns, _NARROWEST) if on_terminal else _PIPED_WIDTH
        return cls(width, wanted if colour == "auto" else colour == "always")

    def render(self, result: CheckResult) -> str:
        """A block for each launch; with several, a line that counts their verdicts."""
        blocks = ["\n".join(self._block(launch)) for launch in result.launches]
        if not blocks:
            blocks = ["no launch found"]
        elif len(blocks) > 1:
            blocks.append(self._count(result))
        return "\n\n".join(blocks) + "\n"

    # -- a launch

    def _block(self, launch: LaunchResult) -> Iterator[str]:
        yield from self._header(launch)
        groups = grouped(launch.worlds)
        if launch.decided_by and len(groups) > 1:
            yield f"  what decides: {safe(launch.decided_by)}"
        if not groups:
            yield "  no dry run was made"
        for group in groups:
            if len(groups) == 1:
                yield from self._group(group, "  ")
            else:
                yield from wrapped(
                    f"{_WORDS[group.outcome]} {place_of(group, launch.worlds)}", self.width, "    ", "  "
                )
                yield from self._group(group, "    ")
        yield from self._fixes(launch)
        yield from self._warnings(launch)
        yield from self._dim_lines(self._assumed(launch))
        yield from self._dim_lines(self._coverage(launch))

    def _header(self, launch: LaunchResult) -> list[str]:
        parts = [self._release(launch)]
        if launch.worlds:
            parts[0] += f" on {_hardware(launch.worlds)}"
        if (origin := _origin(launch)) is not None:
            parts.append(f"model facts from the {origin}")
        where = ""
        if launch.source.path is not None:
            line = "" if launch.source.line is None else f":{launch.source.line}"
            where = f"{launch.source.path}{line}: "
        lines = wrapped(where + ", ".join(parts), self.width, "  ", f"{launch.verdict}  ")
        return [self._styled(launch.verdict, launch.verdict) + lines[0][len(launch.verdict) :], *lines[1:]]

    def _release(self, launch: LaunchResult) -> str:
        releases = list(dict.fromkeys(world.release for world in launch.worlds))
        if not releases:
            return launch.engine
        origins = {world.release_from for world in launch.worlds} - {"option"}
        origin = f" ({' or '.join(sorted(origins))})" if origins else ""
        return f"{launch.engine} {_one_of(releases, 'releases')}{origin}"

    # -- worlds alike

    def _group(self, group: Alike, indent: str) -> Iterator[str]:
        world = group.worlds[0]
        if world.error is not None:
            yield from self._error(world.error, indent)
            yield from self._sites(group.worlds, indent)
        elif group.outcome in ("refused", "crashed") and world.reason is None:
            yield f"{indent}no error is on record"
        if world.reason is not None:
            yield from wrapped(world.reason, self.width, indent + "  ", indent)
        if depends := list(dict.fromkeys(each for world in group.worlds for each in world.depends_on)):
            yield from wrapped(f"depends on: {listed(depends, '; ')}", self.width, indent + "  ", indent)
        if because := list(dict.fromkeys(_because(each) for each in world.because)):
            yield from wrapped(f"because of: {listed(because)}", self.width, indent + "  ", indent)

    def _error(self, error: Error, indent: str) -> list[str]:
        kind = safe(error.type)
        head = f"{kind}: " if error.message.strip() else kind
        lines = wrapped(error.message, self.width, indent + "  ", indent + head)
        return [indent + self._styled("bold", kind) + lines[0][len(indent + kind) :], *lines[1:]]

    def _sites(self, worlds: Sequence[WorldResult], indent: str) -> Iterator[str]:
        releases: dict[str, list[str]] = {}
        for world in worlds:
            site = world.error.site if world.error else None
            if site is not None:
                place = f"raised at {site.path}:{site.line} in {site.function}"
                releases.setdefault(place, []).append(world.release)
        for place, those in releases.items():
            note = f" ({listed(list(dict.fromkeys(those)))})" if len(releases) > 1 else ""
            yield f"{indent}{safe(place + note)}"
        if len({world.error.message for world in worlds if world.error}) > 1:
            yield f"{indent}(its values differ between these worlds; --json shows each)"

    # -- below

    def _fixes(self, launch: LaunchResult) -> Iterator[str]:
        for fix in launch.fixes:
            changes = ", ".join(_change(change) for change in fix.get("changes", ()))
            if changes:
                yield from wrapped(f"fix: {changes} ({fix.get('verdict')})", self.width, "    ", "  ")

    def _warnings(self, launch: LaunchResult) -> Iterator[str]:
        warnings = list(dict.fromkeys(warning for world in launch.worlds for warning in world.warnings))
        for warning in warnings[:_MOST_WARNINGS]:
            text = shortened(warning.removeprefix("WARNING "), 2 * self.width)
            yield from wrapped(f"warning: {text}", self.width, "    ", "  ")
        if len(warnings) > _MOST_WARNINGS:
            yield f"  and {len(warnings) - _MOST_WARNINGS} more (--json shows all)"

    def _assumed(self, launch: LaunchResult) -> str:
        """What the header does not say already."""
        said = {f"release: {world.release_from}" for world in launch.worlds}
        entries = [
            entry.replace(": ", " ", 1)
            for entry in launch.assumed
            if entry not in said and (_origin(launch) is None or not entry.startswith(_MODEL_FACTS))
        ]
        return f"assumed: {'; '.join(entries)}" if entries else ""

    def _coverage(self, launch: LaunchResult) -> str:
        passed = [world for world in launch.worlds if world.outcome == "passed"]
        stages = list(
            dict.fromkeys(stage for world in passed for stage, how in world.stages.items() if how == "passed")
        )
        stages = [stage for stage in stages if stage not in launch.not_checked]
        if not passed:
            return ""
        seen = f"looked at: {', '.join(stages)}" if stages else ""
        unseen = f"not at: {', '.join(launch.not_checked)}" if launch.not_checked else ""
        return "; ".join(part for part in (seen, unseen) if part)

    def _dim_lines(self, text: str) -> list[str]:
        lines = wrapped(text, self.width, "    ", "  ") if text else []
        return [line[: len(line) - len(line.lstrip())] + self._styled("dim", line.lstrip()) for line in lines]

    def _count(self, result: CheckResult) -> str:
        verdicts = [launch.verdict for launch in result.launches]
        counts = [f"{verdicts.count(kind)} {kind}" for kind in ("NO-GO", "HOLD", "GO") if kind in verdicts]
        return f"{self._styled(result.verdict, result.verdict)}  {len(verdicts)} launches: {', '.join(counts)}"

    def _styled(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and style in _STYLES else text


def _origin(launch: LaunchResult) -> str | None:
    """Where all model facts come from; None where that is several places, or there is more to say of it."""
    entries = [entry for entry in launch.assumed if entry.startswith(_MODEL_FACTS)]
    origins = {entry.removeprefix(_MODEL_FACTS).rpartition(" from the ")[2] for entry in entries}
    return origins.pop() if len(origins) == 1 and origins <= _ORIGINS else None


def _hardware(worlds: Sequence[WorldResult]) -> str:
    """All hardware in a row; a count that is the same for all is said once (``8x A100-80GB or L4``)."""
    kinds = list(dict.fromkeys(hardware_of(world) for world in worlds))
    if len({(world.count, world.nodes) for world in worlds}) == 1:
        kinds[1:] = list(dict.fromkeys(world.gpu for world in worlds))[1:]
    return _one_of(kinds, "kinds of hardware")


def _one_of(values: Sequence[str], plural: str) -> str:
    if len(values) == 1:
        return values[0]
    if len(values) > _MOST_IN_HEADER:
        return f"{len(values)} {plural}"
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _because(because: Because) -> str:
    value = "" if because.value is True else f" {_value(because.value)}"
    return f"{because.name}{value}" + (" (resolved)" if because.from_ == "resolved" else "")


def _change(change: dict[str, Any]) -> str:
    value = change.get("value")
    shown = "" if value is None or value is True else f" {_value(value)}"
    return f"{change.get('do')} {change.get('flag')}{shown}"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
