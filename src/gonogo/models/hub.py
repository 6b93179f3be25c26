"""Model facts from the hub: a short question to a process of its own (``ask_hub``), and a record of the answer."""

from __future__ import annotations

import hashlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gonogo.models import hubcache
from gonogo.models.factfiles import MOST_NESTED, check_config, is_fact, is_telling, largest, write_atomically
from gonogo.models.types import ModelFacts
from gonogo.problems import OwnProblem
from gonogo.progress import Progress

FRESH = 24 * 3600.0  # seconds for which a recorded answer is taken without asking again
_MOST_FACTS = 128
_ASK = Path(__file__).with_name("ask_hub.py")

_TEXTS = {
    "gated": "is gated on the hub: accept its terms on its page there and set HF_TOKEN",
    "unknown": "is not on the hub, or is private: check the name, or set HF_TOKEN",
    "nowhere": "could not be had: what answered at HF_ENDPOINT does not know it, or is no hub ({text})",
    "revision": "has no such revision on the hub: check --revision",
    "refused": "is refused by the hub ({text}): check HF_TOKEN",
    "status": "could not be had: the hub answered {text}; try again later",
    "network": "could not be had: the hub can't be reached ({text}); give its facts with --models-dir or --model-facts",
    "slow": "could not be had: the hub did not answer within {text} seconds; give its facts with --models-dir",
    "disk": "could not be kept in the hub cache: {text}; free some space or set HF_HOME",
    "strange": "could not be had: what answered at HF_ENDPOINT is no hub ({text})",
    "broken": "could not be had: huggingface_hub failed ({text})",
}
# After one of these the next model would fare the same, and cost the same wait.
_NO_USE_TO_ASK_AGAIN = frozenset(("network", "slow", "broken"))


@dataclass(frozen=True)
class HubAnswer:
    """What came of asking: facts, or why not; both where some files could not be had."""

    facts: ModelFacts | None
    note: str | None = None


class Hub:
    """The hub as the user's environment describes it (HF_ENDPOINT, HF_TOKEN, HF_HOME, proxies, …).

    ``cache`` keeps records of answers; the files themselves go into the user's hub cache where that can be written. No
    question takes longer than ``answer_seconds`` for the list of files and ``files_seconds`` for the files. Once the
    hub could not be reached, it is not asked again.
    """

    def __init__(
        self,
        cache: Path,
        progress: Progress | None = None,
        environ: Mapping[str, str] = os.environ,
        answer_seconds: float = 6.0,
        files_seconds: float = 60.0,
    ) -> None:
        """Nothing is asked or read yet."""
        self._cache = cache / "hub"
        self._progress = progress
        self._environ = environ
        self._answer_seconds = answer_seconds
        self._files_seconds = files_seconds
        self._out_of_reach: tuple[str, str] | None = None

    def recorded(self, name: str, revision: str | None = None, any_age: bool = False) -> ModelFacts | None:
        """The facts of an earlier answer, where its files are still there and, unless ``any_age``, it is of today."""
        path = self._record(name, revision)
        try:
            if not any_age and time.time() - path.stat().st_mtime > FRESH:
                return None
            found = json.loads(path.read_bytes())
            files = {str(file): Path(place) for file, place in found["files"].items()}
            listed = frozenset(str(file) for file in found["listed"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # none yet, or not written by this gonogo: ask again
        if not all(place.is_file() for place in files.values()):
            return None
        return check_config(ModelFacts(name=name, origin="hub cache", files=files, listed=listed))

    def ask(self, name: str, revision: str | None = None) -> HubAnswer:
        """Ask the hub for ``name`` (a repository), fetch its fact files into the hub cache, record the answer.

        UsageProblem: the model's config.json is broken. Nothing else is raised: no network, no access, no such model
        and a hub that is too slow are all told in the note.
        """
        if self._out_of_reach:
            return HubAnswer(None, _note(name, *self._out_of_reach))
        if self._progress:
            self._progress.say(f"asking the hub for {name}")
        try:
            return self._ask(name, revision)
        except _NotHadError as problem:
            if problem.kind in _NO_USE_TO_ASK_AGAIN:
                self._out_of_reach = (problem.kind, problem.text)
            return HubAnswer(None, _note(name, problem.kind, problem.text))
        finally:
            if self._progress:
                self._progress.clear()

    def _ask(self, name: str, revision: str | None) -> HubAnswer:
        files: dict[str, Path] = {}
        failed: dict[str, tuple[str, str]] = {}
        with _Question(self._with_writable_cache()) as question:
            until = time.monotonic() + self._answer_seconds
            question.say({"name": name, "revision": revision, "seconds": self._answer_seconds})
            first = question.answer(until)
            if first is None:
                raise _NotHadError("slow", f"{self._answer_seconds:g}")
            if "problem" in first:
                raise _NotHadError(first["problem"], first["text"])
            sizes = {file: size for file, size in first["sizes"].items() if _is_inside(file)}
            wanted = _wanted(sizes)
            question.say({file: largest(file) for file in wanted})
            until = time.monotonic() + self._files_seconds
            while (answer := question.answer(until)) is not None and "end" not in answer:
                if "path" in answer:
                    files[answer["file"]] = Path(answer["path"])
                else:
                    failed[answer["file"]] = (answer["problem"], answer["text"])
        late = ("slow", f"{self._files_seconds:g}")
        failed |= {file: late for file in wanted if file not in files and file not in failed}
        # A file that is too large or is not there after all is no failure to have the facts.
        failed = {file: why for file, why in failed.items() if why[0] not in ("large", "missing")}
        listed = frozenset(sizes)
        if failed and not is_telling(frozenset(files)):
            raise _NotHadError(*failed.get("config.json", min(failed.values())))
        facts = check_config(ModelFacts(name=name, origin="hub", files=files, listed=listed))
        if failed:
            first_file = min(failed)
            return HubAnswer(facts, _note(f"{name}: {first_file}", *failed[first_file]))
        self._keep(name, revision, facts, first)
        return HubAnswer(facts)

    def _with_writable_cache(self) -> dict[str, str]:
        theirs = place = hubcache.cache_folder(self._environ).absolute()
        while not place.exists() and place != place.parent:
            place = place.parent
        own = {} if os.access(place, os.W_OK) else {"HF_HUB_CACHE": str(self._cache / theirs.name)}
        return {**self._environ, **own}

    def _keep(self, name: str, revision: str | None, facts: ModelFacts, answer: dict[str, Any]) -> None:
        record = {
            "name": answer["name"],
            "commit": answer["commit"],
            "listed": sorted(facts.listed or ()),
            "files": {file: str(place) for file, place in sorted(facts.files.items())},
        }
        try:
            write_atomically(self._record(name, revision), json.dumps(record, indent=1).encode())
        except OwnProblem:
            return  # the facts are had; only the next check has to ask again

    def _record(self, name: str, revision: str | None) -> Path:
        asked = [self._environ.get("HF_ENDPOINT", ""), name.lower(), revision or "main"]
        return self._cache / f"{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]}.json"


class _NotHadError(Exception):
    def __init__(self, kind: str, text: str) -> None:
        super().__init__(kind, text)
        self.kind, self.text = kind, text


class _Question:
    """One run of ``ask_hub``; it ends with the ``with`` block, answered or not."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "PYTHONIOENCODING": "utf-8"}
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in __exit__)
        try:
            # -P: this folder holds a types.py, and the folder that gonogo runs in may hold anything.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_ASK)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={**environ, **quiet},
            )
        except OSError as error:
            self._stderr.close()
            raise _NotHadError("broken", f"Python could not be started: {error.strerror}") from None
        self._waiting = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)

    def __enter__(self) -> _Question:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._selector.close()
        self._stderr.close()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue  # what was still buffered for it is of no use to the dead

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def say(self, question: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise _NotHadError("broken", self._last_words()) from None

    def answer(self, until: float) -> dict[str, Any] | None:
        """The next answer; None where there is none at the time ``until`` (monotonic seconds)."""
        while b"\n" not in self._waiting:
            if not self._selector.select(max(0.0, until - time.monotonic())):
                return None
            more = os.read(self._stdout.fileno(), 2**16)
            if not more:
                self._process.wait()
                raise _NotHadError("broken", self._last_words())
            self._waiting += more
        line, _, self._waiting = self._waiting.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _last_words(self) -> str:
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it ended without a word"


def _wanted(sizes: dict[str, int | None]) -> list[str]:
    facts = sorted(file for file, size in sizes.items() if is_fact(file) and (size or 0) <= largest(file))
    nested = [file for file in facts if "/" in file]
    return [*[file for file in facts if "/" not in file][:_MOST_FACTS], *nested[:MOST_NESTED]]


def _is_inside(file: str) -> bool:
    """Whether ``file`` stays inside its repository; what else a server may send is nobody's file name."""
    return not file.startswith("/") and "\0" not in file and ".." not in file.split("/")


def _note(name: str, kind: str, text: str) -> str:
    return f"{name} " + _TEXTS.get(kind, _TEXTS["broken"]).format(text=text)
