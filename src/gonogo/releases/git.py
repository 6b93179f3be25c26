"""What git knows of a checkout: its commit and when that was made, the nearest tag, what has been changed since.

A checkout may be anybody's, and its configuration can name programs for git to run: only commands are used that read objects
or .gitignore files (no index and no file of the working tree, so no filter and no monitor), with hooks, transports and lazy
fetching switched off.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_OFF = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never"]
_SECONDS = 60


@dataclass(frozen=True)
class Commit:
    """The commit that is checked out in ``folder``. ``tag`` is the nearest one before it, ``since`` the commits after that."""

    folder: Path
    sha: str
    date: datetime
    tag: str | None = None
    since: int = 0

    def files(self, below: str) -> dict[str, str]:
        """The hashes that the commit has of its regular files in the folder ``below``, by path from the checkout's top."""
        told = _git(self.folder, "ls-tree", "-r", "-z", "--full-tree", self.sha, "--", below) or b""
        rows = (row.partition(b"\t") for row in told.split(b"\0") if row)
        return {
            os.fsdecode(name): about.split()[2].decode()
            for about, _, name in rows
            if about.startswith(b"100") and about.split()[1] == b"blob"
        }

    def ignored(self, names: Iterable[str]) -> set[str]:
        """Those of these files, by path from the top, that the checkout's .gitignore files leave to a build."""
        asked = b"".join(os.fsencode(name) + b"\0" for name in names)
        told = _git(self.folder, "check-ignore", "--no-index", "-z", "--stdin", given=asked) or b""
        return {os.fsdecode(name) for name in told.split(b"\0") if name}


def head_of(folder: Path) -> Commit | None:
    """The commit checked out in the folder that is a checkout's top; None where git does not tell, or is not here."""
    if not (folder / ".git").exists():
        return None
    told = _git(folder, "rev-parse", "--verify", "HEAD^{commit}")
    sha = (told or b"").decode("ascii", "replace").strip()
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", sha):
        return None
    content = (_git(folder, "cat-file", "commit", sha) or b"").partition(b"\n\n")[0]
    when = re.search(rb"^committer .*> (\d{1,12}) [+-]\d{4}$", content, re.MULTILINE)
    if when is None:
        return None
    named = (_git(folder, "describe", "--tags", "--long", "--match", "v[0-9]*", sha) or b"").decode("utf-8", "replace")
    described = re.fullmatch(r"(.+)-(\d+)-g[0-9a-f]+\s*", named)
    tag, since = (described[1], int(described[2])) if described else (None, 0)
    return Commit(folder, sha, datetime.fromtimestamp(int(when[1]), UTC), tag, since)


def _git(folder: Path, *words: str, given: bytes = b"") -> bytes | None:
    """What git answers to what it is ``given``; None where it does not."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    command = ["git", "--no-pager", *_OFF, *words]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environ,
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
