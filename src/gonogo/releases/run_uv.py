"""Run uv, undisturbed by the settings of the folder gonogo is called in, and say in one line what went wrong."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gonogo.problems import OwnProblem, ReleaseProblem
from gonogo.releases.settings import index_address

# Settings of the user's that concern how an index is reached stay; those that would change what is resolved go.
_KEPT = re.compile(
    r"UV_(INDEX(_.*)?|EXTRA_INDEX_URL|INDEX_STRATEGY|KEYRING_PROVIDER|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|HTTP_.*|OFFLINE)"
)
_NETWORK = (
    "error sending request",
    "Failed to fetch",
    "dns error",
    "timed out",
    "Connection refused",
    "network was disabled",
)


def run_uv(arguments: Sequence[str], workspace: Path) -> str | None:
    """Run uv in ``workspace`` with a cache of its own there; None when it did its work, else what it said."""
    import uv

    environ = {name: value for name, value in os.environ.items() if not name.startswith("UV_") or _KEPT.fullmatch(name)}
    environ.pop("VIRTUAL_ENV", None)
    environ |= {"UV_CACHE_DIR": str(workspace / "uv"), "UV_NO_PROGRESS": "1"}
    if address := index_address():
        environ.pop("UV_INDEX_URL", None)
        environ["UV_DEFAULT_INDEX"] = address
    # The user's own files are read by index_address(); uv must not read the working folder's, which may be anyone's.
    command = [uv.find_uv_bin(), *arguments, "--no-config", "--no-python-downloads", "--color", "never"]
    done = subprocess.run(command, cwd=workspace, env=environ, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or f"uv ended with {done.returncode}"


def is_network(said: str) -> bool:
    """Whether uv failed because it could not reach an index."""
    return any(words in said for words in _NETWORK)


def problem(what: str, said: str) -> OwnProblem:
    """The problem to raise when uv, asked for ``what``, ``said`` why it could not."""
    if "os error 28" in said or "No space left" in said:
        return OwnProblem(f"no space left for {what} in the cache: free some, or set GONOGO_CACHE to another folder")
    brief = re.sub(r"//[^/\s@]*@", "//", " ".join(said.split()))
    if len(brief) > 500:
        brief = f"{brief[:500]} ..."
    if is_network(said):
        return OwnProblem(f"cannot reach the package index for {what}: check the network (uv says: {brief})")
    kind = ReleaseProblem if "No solution found" in said else OwnProblem
    return kind(f"cannot get {what} (uv says: {brief})")
