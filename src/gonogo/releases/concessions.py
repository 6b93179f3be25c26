"""What to concede where today's index cannot meet requirements as of a day gone by, and which packages that concerns.

Packages vanish: their old files are deleted or uploaded anew later, or what is left of them has to be built. For such a
package, and for no other, a later file is allowed, or it is left out; and it is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from packaging.utils import canonicalize_name

from gonogo.releases.index import upload_times

# What uv says of a package that has nothing to offer (whole messages stand in the tests).
_NONE_IN_TIME = re.compile(r"no versions of ([\w.-]+)|`([\w.-]+)` was filtered by `exclude-newer`")
_NO_WHEEL = re.compile(r"([\w.-]+)==(\S+) has no usable wheels")
_A_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True)
class Concessions:
    """``later``: packages with the time of their first file, allowed though it is too late. ``left_out``: with versions."""

    later: dict[str, datetime] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def options(self) -> list[str]:
        """Words for uv that allow the later files."""
        days = {name: in_uv(first + _A_MOMENT) for name, first in self.later.items()}
        return [word for name, day in days.items() for word in ("--exclude-newer-package", f"{name}={day}")]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should be told, a sentence each."""
        later = [
            f"{name} is taken as of {first:%Y-%m-%d}: the package index has no file of it from before that"
            for name, first in self.later.items()
            if name not in self.left_out
        ]
        left_out = [
            f"{name} {version} is left out: the package index has no wheel of it, and gonogo builds none"
            for name, version in self.left_out.items()
        ]
        return (*later, *left_out)


def in_uv(day: datetime) -> str:
    """A time as uv reads it."""
    return day.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def concede(said: str, until: datetime | None, made: Concessions) -> Concessions | None:
    """One more concession than those ``made``, by what uv ``said`` of the last attempt; None where there is none to make.

    ``until`` is the time up to which files are wanted, None: all are. Raises OwnProblem where the index cannot be reached.
    """
    said = " ".join(said.split())
    if until is not None:
        for match in _NONE_IN_TIME.finditer(said):
            name = canonicalize_name(match[1] or match[2])
            first = min(upload_times(name), default=until) if name not in made.later else until
            if first > until:
                return replace(made, later={**made.later, name: first})
    for match in _NO_WHEEL.finditer(said):
        name = canonicalize_name(match[1])
        if name not in made.left_out:
            return replace(made, left_out={**made.left_out, name: match[2]})
    return None
