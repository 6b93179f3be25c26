"""Run as a program of its own: asks the hub for one model with huggingface_hub, over lines of JSON.

A process of its own because huggingface_hub retries and waits for minutes where a checker has seconds, writes to
stderr, and takes long to import: who asked can put an end to all of it. It imports nothing of gonogo.

    in   {"name": …, "revision": … or null, "seconds": …}
    out  {"name": …, "commit": …, "sizes": {file: bytes or null}}      or {"problem": kind, "text": …}
    in   {file: the most bytes it may have}
    out  {"file": …, "path": …} or {"file": …, "problem": kind, "text": …} each, then {"end": true}

Kinds of problem: gated, unknown, nowhere, revision, refused, status, network, disk, large, missing, strange.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any, TextIO

_WORKERS = 8


def _own_stdout() -> TextIO:
    """Stdout for the answers alone: huggingface_hub prints there too, for instance when it can't be imported."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def _expected() -> tuple[type[Exception], ...]:
    """What asking the hub can raise, whichever HTTP client this huggingface_hub is built on (there were three)."""
    from huggingface_hub.errors import HfHubHTTPError

    bases = tuple(kind for kind in HfHubHTTPError.__mro__ if issubclass(kind, Exception) and kind is not Exception)
    # The rest: an answer that is not the hub's (no JSON, other fields), and hf_xet, which raises RuntimeError.
    return (*bases, OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError)


def _problem(error: BaseException) -> dict[str, str]:
    from huggingface_hub import errors

    line = " ".join(str(error).split())[:300]
    text = f"{type(error).__name__}: {line}" if line else type(error).__name__
    # Not in every release that gonogo allows; FileMetadataError is how a web page in place of a file shows.
    strange = getattr(errors, "FileMetadataError", ())
    if isinstance(error, errors.LocalEntryNotFoundError):
        # "Check your connection": what really happened stands behind it.
        return _problem(error.__cause__) if error.__cause__ else {"problem": "network", "text": text}
    if isinstance(error, errors.GatedRepoError):
        return {"problem": "gated", "text": text}
    if isinstance(error, errors.RevisionNotFoundError):
        return {"problem": "revision", "text": text}
    if isinstance(error, errors.EntryNotFoundError):
        return {"problem": "missing", "text": text}
    if isinstance(error, errors.RepositoryNotFoundError):
        return {"problem": "unknown", "text": text}
    if isinstance(error, errors.HfHubHTTPError):
        status = error.response.status_code
        kind = {401: "refused", 403: "refused", 404: "nowhere"}.get(status, "status")
        return {"problem": kind, "text": f"HTTP {status}"}
    if isinstance(error, strange):
        return {"problem": "strange", "text": text}
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return {"problem": "disk", "text": f"{error.filename}: {error.strerror}"}
    if isinstance(error, (ValueError, TypeError, KeyError, AttributeError)):
        return {"problem": "strange", "text": text}
    return {"problem": "network", "text": text}


def _fetch(name: str, commit: str, wanted: dict[str, int], sizes: dict[str, int | None]) -> Iterator[dict[str, Any]]:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    def fetch_one(file: str) -> dict[str, Any]:
        size = sizes[file]
        if size is None:
            size = get_hf_file_metadata(hf_hub_url(name, file, revision=commit)).size
        if size is None or size > wanted[file]:
            return {"problem": "large", "text": f"{size} bytes"}
        return {"path": hf_hub_download(name, file, revision=commit)}

    expected = _expected()
    with ThreadPoolExecutor(_WORKERS) as pool:
        # config.json first, then the small ones: what is had when time runs out should say as much as possible.
        order = sorted(wanted, key=lambda file: (file != "config.json", sizes[file] or 0, file))
        running: dict[Future[dict[str, Any]], str] = {pool.submit(fetch_one, file): file for file in order}
        for done in as_completed(running):
            try:
                answer = done.result()
            except expected as error:
                answer = _problem(error)
            yield {"file": running[done], **answer}


def main() -> None:
    """Answer one question."""
    stdout = _own_stdout()

    def say(**answer: Any) -> None:
        stdout.write(json.dumps(answer) + "\n")
        stdout.flush()

    question = json.loads(sys.stdin.readline())
    from huggingface_hub import HfApi

    try:
        info = HfApi().model_info(
            question["name"], revision=question["revision"], timeout=question["seconds"], files_metadata=True
        )
        sizes = {one.rfilename: one.size for one in info.siblings or ()}
        name, commit = str(info.id), str(info.sha or "")
        if not commit or not sizes:
            raise ValueError("the answer names no commit or no files")
    except _expected() as error:
        say(**_problem(error))
        return
    say(name=name, commit=commit, sizes=sizes)
    wanted = json.loads(sys.stdin.readline())
    for answer in _fetch(name, commit, wanted, sizes):
        say(**answer)
    say(end=True)


if __name__ == "__main__":
    main()
