"""Dry runs: a launch in a world → an outcome. Children are started when first needed and kept while the object lives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gonogo.dryrun import backends
from gonogo.dryrun.answer import Answer, outcome_of
from gonogo.dryrun.fuller import LIST, empty_files, hangs_on_missing, lacking, with_empty, with_files, with_lists
from gonogo.dryrun.importflips import ImportFlips
from gonogo.dryrun.known_names import KnownNames
from gonogo.dryrun.memory import Memory
from gonogo.dryrun.needed import NeededModules
from gonogo.dryrun.openpackages import packages_named
from gonogo.dryrun.outcome import DryRun
from gonogo.dryrun.plain_modules import PlainModules
from gonogo.dryrun.plugins import foreign_plugins
from gonogo.dryrun.preprocessor import has_preprocessor, stand_in_preprocessors
from gonogo.dryrun.process import ChildEnded, ChildProcess
from gonogo.dryrun.request import code_variables, facts_of, request_for
from gonogo.dryrun.signature import fault_of, signature
from gonogo.dryrun.tokenizer import TOKENIZER_FILES, has_tokenizer, stand_in_tokenizer
from gonogo.dryrun.world import World
from gonogo.launches.types import Launch
from gonogo.models.find import Models
from gonogo.places import cache_folder
from gonogo.progress import Progress
from gonogo.releases.surfaces import Surfaces

_MOST_FLIPS = 60
_MOST_QUESTIONS = 12
_MOST_CHILDREN = 4
_MOST_LOADS = 4


class DryRuns:
    """Runs launches. ``memory`` remembers outcomes over processes (None: not at all). Close it, or use it with ``with``."""

    def __init__(
        self,
        memory: Memory | None = None,
        progress: Progress | None = None,
        jobs: int = 2,
        backends: bool = True,
        surfaces: Surfaces | None = None,
    ) -> None:
        """``jobs`` forks run at a time in one child. Without ``backends`` no dry run looks further than the configuration.

        ``surfaces`` tells which names the packages of a world have; without it that is a decision like others.
        """
        self._backends = backends
        self._memory = memory
        self._progress = progress or Progress()
        self._jobs = jobs
        self._children: dict[str, ChildProcess] = {}
        self._named: dict[str, dict[str, None]] = {}  # launch → models that the engine asked for
        folder = memory.folder.parent / "import-decisions" if memory is not None else None
        self._cache = memory.folder.parent if memory is not None else cache_folder()
        self._needed = NeededModules(memory.folder.parent / "needed-modules" if memory is not None else None)
        self._names = KnownNames(surfaces)
        self._plain = PlainModules(surfaces, memory.folder.parent / "plain-modules" if memory is not None else None)
        self._flips = ImportFlips(folder, self._flipped_child, self._progress.say)

    def run(self, launch: Launch, world: World, models: Models, allow_code: bool = False) -> DryRun:
        """One dry run of ``launch`` in ``world``. Raises OwnProblem where the child itself fails."""
        answer = self.answer(launch, world, models, allow_code)
        return DryRun(
            outcome_of(answer, world),
            answer.asked,
            answer.missing,
            answer.assumed,
            tuple(answer.words.get("lacks", ())),
        )

    def answer(self, launch: Launch, world: World, models: Models, allow_code: bool = False) -> Answer:
        """The child's own words on the launch, and what they depend on that cannot be known."""
        request = {**request_for(launch, models), "count": world.hardware.count, "backends": self._backends}
        question = dict(request)
        variables = code_variables(launch)
        if variables and not allow_code:
            reason = f"the launch sets {', '.join(variables)}, which can bring code of its own into the engine"
            return Answer({"outcome": "unclear", "reason": reason, "stage": "arguments"})
        plugins = foreign_plugins(launch, world)
        if plugins and not allow_code:
            reason = (
                f"the launch names code that is not part of the release, which is never executed: {', '.join(plugins)}"
            )
            return Answer({"outcome": "unclear", "reason": reason, "stage": "arguments"})
        if self._memory is not None:
            known = self._memory.recall(question, world, models)
            if known is not None:
                return known
        for _ in range(_MOST_LOADS):
            child = self._child_for(request, world)
            if child.error is not None:
                return Answer(_failed_load(child))
            try:
                words = self._ask(child, request, models, world)
            except ChildEnded:
                if self._forget(child):  # it was dead before it was asked
                    continue
                raise
            if not self._plain.learn(world, words.get("decisions", ()), child.state["described"]):
                break
        request, words, assumed = self._filled(child, request, words, models, world)
        missing = [name for name, facts in request["models"].items() if facts.get("known") is False]
        missing += [path for path in words.get("paths", ()) if path.rstrip("/") not in request["models"]]
        depends, workers = self._depends_on(child, request, words)
        depends += self._depends_on_import(world, request, words)
        words["lacks"] = [name for name in packages_named(words, child.state["missing"]) if name not in world.packages]
        workers += self._workers_depend_on(child, world, request, words)
        assumed += tuple(
            f"{one}, code of the model's own, is taken to keep what config.json says"
            for one in words.get("own_configs", ())
        )
        asked = (*request["paths"], *request["models"])
        answer = Answer(words, depends, asked, tuple(missing), assumed, workers)
        if self._memory is not None:
            self._memory.keep({**question, "models": request["models"]}, world, models, answer)
        return answer

    def _forget(self, child: ChildProcess) -> bool:
        """Whether the child was kept from earlier, so that another may do better; it is closed."""
        kept = child.asked > 1
        for key in [key for key, one in self._children.items() if one is child]:
            self._children.pop(key).close()
        return kept

    def _ask(self, child: ChildProcess, request: dict[str, Any], models: Models, world: World) -> dict[str, Any]:
        """The answer, once all models that the engine asks for are told, and which names its packages do not have."""
        named = self._named.setdefault(_launch_in(request), {})
        for _ in range(_MOST_QUESTIONS):
            for name in named:
                if name not in request["models"]:
                    facts = models.facts(name)
                    request["models"][name] = {"files": {}, "known": False} if facts is None else facts_of(facts)
            answer = child.ask_one(request)
            if answer["outcome"] == "asks":
                named[answer["repository"]] = None
                continue
            touched = set(answer.get("touched", ()))
            request["models"] = {name: facts for name, facts in request["models"].items() if name in touched}
            known = self._names.answers(world, answer.get("decisions", ()))
            answer["decisions"] = [row for row in answer.get("decisions", ()) if row["key"] not in known]
            wrong = {key: False for key, there in known.items() if not there}
            if not wrong:
                return answer
            request["forced"] = {**request.get("forced", {}), **wrong}
        return {
            "outcome": "unclear",
            "reason": f"the engine asks for more than {_MOST_QUESTIONS} models",
            "stage": None,
        }

    def _filled(
        self, child: ChildProcess, request: dict[str, Any], words: dict[str, Any], models: Models, world: World
    ) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]:
        """A refusal once more with a stand-in tokenizer where the facts lack one; request, answer, and what that assumes."""
        told = words.get("backends") or words
        names = [] if told["outcome"] in ("passed", "unclear") else lacking(request, words)
        files = {name: found for name in names if (found := self._stand_ins(request, name, world))}
        if not files:
            return request, words, ()
        fuller = with_files(request, files)
        again = self._ask(child, fuller, models, world)
        if signature(again) == signature(words) and _of_workers(again) == _of_workers(words):
            return fuller, again, ()
        assumed = []
        for name, found in files.items():
            for kind, those in (
                ("tokenizer", TOKENIZER_FILES),
                ("preprocessor", set(found).difference(TOKENIZER_FILES)),
            ):
                if set(those) & set(found):
                    assumed.append(f"{kind}: a stand-in for that of {name}, which is not among its facts")
        return fuller, again, tuple(assumed)

    def _stand_ins(self, request: dict[str, Any], name: str, world: World) -> dict[str, str]:
        """Files that stand in for those that a model's facts lack: a tokenizer, and the preprocessors of its kind of model."""
        files = {**request["models"], **request["paths"]}[name]["files"]
        found: dict[str, str] = {}
        if not has_tokenizer(files):
            found |= stand_in_tokenizer(world.release, self._cache / "tokenizers")
        if "config.json" in files and not has_preprocessor(files):
            config, folder = Path(files["config.json"]), self._cache / "preprocessors"
            found |= stand_in_preprocessors(world.release.environment, config, folder)
        return found

    def _depends_on(
        self, child: ChildProcess, request: dict[str, Any], answer: dict[str, Any]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the outcome depends on: decisions on unknown values and missing facts that change it when answered otherwise.

        Second, those of them that change only what the workers come to.
        """
        found = [f"model facts of {name}" for name, facts in request["models"].items() if facts.get("known") is False]
        if fault_of(answer) is not None:
            return tuple(found), ()
        known = set(request["models"])
        gone = [path for path in answer.get("paths", ()) if path.rstrip("/") not in known]
        if answer["outcome"] != "passed":
            found += [f"the path {path}, which is not here" for path in gone]
            found += [f"what this command answers: {command}" for command in answer.get("commands", ())]
        found += [
            f"{name} of the model, which is not among its facts" for name in self._hangs_on(child, request, answer)
        ]
        flips = [row for row in answer.get("decisions", []) if row["phase"] == "run" and row["usual"] != row["other"]][
            :_MOST_FLIPS
        ]
        forced = request.get("forced", {})
        requests = [{**request, "forced": {**forced, row["key"]: row["other"]}} for row in flips]
        workers = []
        for index, other in child.ask(requests):
            row = flips[index]
            told = f"{row['kind']} {row['name']} at {row['path']}:{row['line']}"
            if other["outcome"] == "asks" or signature(other) != signature(answer):
                found.append(told)
                continue
            if backends.was_looked_at(answer) and signature(other["backends"]) != signature(answer["backends"]):
                workers.append(told)
            _keep_common(answer, other)
        return tuple(found), tuple(workers)

    def _hangs_on(self, child: ChildProcess, request: dict[str, Any], answer: dict[str, Any]) -> list[str]:
        """Files that a refusal hangs on; a model's list of files only where it ends otherwise with one."""
        return self._that_matter(child, request, hangs_on_missing(answer), signature(answer), signature)

    def _that_matter(
        self,
        child: ChildProcess,
        request: dict[str, Any],
        names: tuple[str, ...],
        usual: Any,
        of: Callable[[dict[str, Any]], Any],
    ) -> list[str]:
        """Those of the missing files that a refusal hangs on: none if it stays the same with a list of files and empty ones."""
        if not names:
            return []
        of_stand_ins = tuple(name for name, facts in request["models"].items() if facts.get("stand_in"))
        if any(name.startswith((f"{one}/", f"{one} ")) for name in names for one in of_stand_ins):
            return list(names)
        whole = request
        if any(name.endswith(LIST) for name in names):
            whole = with_lists(request)
            other = child.ask_one(whole)
            if other["outcome"] == "asks" or of(other) != usual:
                return list(names)
        files = [name for name in names if not name.endswith(LIST)]
        fuller, there = with_empty(whole, files, empty_files(self._cache / "empty"))
        if there:
            other = child.ask_one(fuller)
            if other["outcome"] != "asks" and of(other) == usual:
                return [name for name in files if name not in there]
        return files

    def _workers_depend_on(
        self, child: ChildProcess, world: World, request: dict[str, Any], answer: dict[str, Any]
    ) -> tuple[str, ...]:
        """What the stage ``backends`` depends on: the workers' own decisions, and for a refusal those at import too."""
        if not backends.was_looked_at(answer):
            return ()
        refused = answer["backends"]["outcome"] != "passed"
        found = list(backends.depends_on(answer, request, child.ask_one))
        if refused:
            told = {**answer["backends"], "asked_by": answer.get("asked_by", {})}
            matter = self._that_matter(child, request, hangs_on_missing(told), _of_workers(answer), _of_workers)
            found += [f"{name} of the model, which is not among its facts" for name in matter]
        if refused and not found:
            found += self._workers_depend_on_import(child, world, request, answer)
        return tuple(found)

    def _workers_depend_on_import(
        self, child: ChildProcess, world: World, request: dict[str, Any], answer: dict[str, Any]
    ) -> list[str]:
        """Whether a refusal of the workers stands when all decisions at import fall the other way that can."""
        rows = [row for row in child.state["decisions"] if row["usual"] != row["other"]]
        while rows:
            flipped = self._flipped_child(world, {row["key"]: row["other"] for row in rows})
            try:
                if flipped.error is None:
                    other = flipped.ask_one(request)
                    same = other["outcome"] == "passed" and signature(other["backends"]) == signature(
                        answer["backends"]
                    )
                    return [] if same else ["what is decided while the engine is loaded"]
                hit = flipped.state.get("hit") or []
            finally:
                flipped.close()
            rows = [row for row in rows if row["key"] != hit[-1]] if hit else []
        return []

    def _depends_on_import(self, world: World, request: dict[str, Any], answer: dict[str, Any]) -> tuple[str, ...]:
        """The same for what was decided while the engine was loaded, as far as such decisions matter at all."""
        if fault_of(answer) is not None:
            return ()
        found = []
        for row in self.that_matter_at_import(world):
            child = self._flipped_child(world, {row["key"]: row["other"]})
            try:
                other = None if child.error is not None else child.ask_one(request)
            finally:
                child.close()
            if other is not None and signature(other) == signature(answer):
                _keep_common(answer, other)
            else:
                found.append(f"{row['kind']} {row['name']} at {row['path']}:{row['line']}")
        return tuple(found)

    def _child_for(self, request: dict[str, Any], world: World) -> ChildProcess:
        """The child of this world; one of its own where the launch sets variables that are read while the engine is loaded."""
        plain = self._child(world, {})
        if plain.error is not None:
            return plain
        read = set(plain.state["env_read"])
        early = {name: value for name, value in request["env"].items() if name in read}
        return self._child(world, early) if early else plain

    def _child(self, world: World, early: dict[str, str]) -> ChildProcess:
        """A loaded child, kept for the next. One serves every count of GPUs, unless the engine asked for it on loading."""
        any_count = self._started(world, early, count=False)
        if any_count.error is None and any_count.state["count_asked"]:
            return self._started(world, early, count=True)
        return any_count

    def _started(self, world: World, early: dict[str, str], count: bool) -> ChildProcess:
        def described(world: World) -> dict[str, Any]:
            description = {**world.description(), "jobs": self._jobs, "texts": self._plain.texts(world)}
            return {**description, "env": {**description["env"], **early}}

        def key() -> str:
            description = _without_count(described(world), count)
            return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()

        child = self._children.pop(key(), None)
        if child is not None and child.has_ended:
            child.close()
            child = None
        if child is None:
            self._progress.say(
                f"loading {world.release.engine} {world.release.version} on {world.hardware.gpu.name} ..."
            )
            while len(self._children) >= _MOST_CHILDREN:
                self._children.pop(next(iter(self._children))).close()
            child = self._loaded(world, described)
            self._progress.clear()
        self._children[key()] = child  # loading can have taught what belongs to the world
        return child

    def _loaded(self, world: World, described: Callable[[World], dict[str, Any]]) -> ChildProcess:
        """A loaded child; once more where it took a name for there that a package does not have."""
        wrong: dict[str, Any] = {}
        for _ in range(_MOST_LOADS):

            def start(whole: World, forced: dict[str, Any] = wrong) -> ChildProcess:
                return ChildProcess(Path(world.release.python), {**described(whole), "forced": forced})

            child = self._needed.load(world, start)
            if child.error is not None:
                break
            if self._plain.learn(world, child.state["decisions"], child.state["described"]):
                child.close()
                continue
            known = self._names.answers(world, child.state["decisions"])
            child.state["decisions"] = [row for row in child.state["decisions"] if row["key"] not in known]
            fresh = {key: False for key, there in known.items() if not there}
            if not fresh:
                break
            child.close()
            wrong = {**wrong, **fresh}
        child.state["forced"] = wrong
        return child

    def decisions_at_import(self, world: World) -> list[dict[str, Any]]:
        """What the engine decided on unknown values while it was loaded."""
        return list(self._child(world, {}).state["decisions"])

    def that_matter_at_import(self, world: World) -> list[dict[str, Any]]:
        """Those of them whose other answer changes the outcome of some launch of the engine's battery."""
        return self._flips.that_matter(world, self.decisions_at_import(world))

    def _flipped_child(self, world: World, forced: dict[str, Any]) -> ChildProcess:
        """A child with decisions forced while it loads, for its caller to close; the plain one where nothing is forced."""
        if not forced:
            return self._child(world, {})
        known = self._child(world, {}).state.get("forced", {})
        description = self._needed.world(world).description()
        return ChildProcess(
            Path(world.release.python),
            {
                **description,
                "jobs": self._jobs,
                "texts": self._plain.texts(world),
                "forced": {**known, **forced},
            },
        )

    def close(self) -> None:
        """End all children."""
        while self._children:
            self._children.popitem()[1].close()

    def __enter__(self) -> DryRuns:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def _launch_in(request: dict[str, Any]) -> str:
    """What of a request is the launch itself, whatever is known of models."""
    told = {key: value for key, value in request.items() if key not in ("models", "paths", "forced", "count")}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode(errors="surrogatepass")).hexdigest()


def _of_workers(answer: dict[str, Any]) -> tuple[Any, ...] | None:
    return signature(answer["backends"]) if answer.get("backends") else None


def _without_count(description: dict[str, Any], count: bool) -> dict[str, Any]:
    if count:
        return description
    hardware = {name: value for name, value in description["hardware"].items() if name not in ("count", "nodes")}
    return {**description, "hardware": hardware}


def _keep_common(answer: dict[str, Any], other: dict[str, Any]) -> None:
    """Take away the resolved values that differ when a decision on an unknown value falls the other way: nobody knows them."""
    told = other.get("resolved") or {}
    answer["resolved"] = {
        name: value for name, value in (answer.get("resolved") or {}).items() if told.get(name) == value
    }


def _failed_load(child: ChildProcess) -> dict[str, Any]:
    error = child.error or {}
    withheld = sorted({row["name"] for row in child.state.get("decisions", ()) if "withheld: " in row["name"]})
    return {
        "outcome": "unclear",
        "stage": "arguments",
        "reason": (
            f"the engine cannot be loaded here: {error.get('root_type')}: {error.get('root_message')}"
            f"{', after it asked for ' + ', '.join(withheld) if withheld else ''}"
        )[:600],
        "traceback": error.get("traceback"),
    }
