"""Checks launches: every plausible world is tried, and the verdict is over all of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gonogo.check.hardware_open import choose_hardware, fit
from gonogo.check.models_assumed import assumptions, assumptions_by_name
from gonogo.check.packages_chosen import ChosenPackages, choose_packages, in_release
from gonogo.check.packages_open import with_packages_open, with_versions_open
from gonogo.check.releases_open import ReleaseChoice, choose_releases, packages_assumed
from gonogo.check.result import CheckResult, LaunchResult, WorldResult
from gonogo.check.secrets import without_secrets
from gonogo.check.verdict import decided_by, verdict_of, worst
from gonogo.check.words import check_environment, launches_of
from gonogo.dryrun import DryRun, DryRuns, Memory, World
from gonogo.engines.types import engine_named
from gonogo.hardware.types import Hardware
from gonogo.launches import Launch
from gonogo.models.find import Models
from gonogo.places import cache_folder
from gonogo.problems import OwnProblem, ReleaseProblem
from gonogo.progress import Progress
from gonogo.releases import Release, Releases
from gonogo.releases.surfaces import Surfaces

_NOT_CHECKED = ("weights", "memory", "kernels", "network")


class Checker:
    """Checks launches; children for dry runs are kept warm until it is closed. Use it with ``with``."""

    def __init__(
        self,
        *,
        cache: Path | None = None,
        remember: bool = True,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """``cache`` is gonogo's cache folder unless given. ``remember`` outcomes in it. ``jobs`` dry runs at a time."""
        folder = cache_folder() if cache is None else cache
        self._cache = folder
        self._progress = progress or Progress()
        self._releases = Releases(folder, self._progress)
        memory = Memory(folder / "outcomes") if remember else None
        surfaces = Surfaces(folder / "surfaces", self._progress)
        self._runs = DryRuns(memory, self._progress, jobs or os.cpu_count() or 1, surfaces=surfaces)

    def check(
        self,
        command: str | Sequence[str] | Launch | Sequence[Launch],
        *,
        release: str | Path | None = None,
        gpu: str | Sequence[str] | None = None,
        models_dir: str | Path | None = None,
        model_facts: Mapping[str, str | Path] | None = None,
        env: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
        with_: Sequence[str] = (),
        hub: bool = True,
        allow_code: bool = False,
    ) -> CheckResult:
        """The verdict on one launch, or on several.

        ``command`` is a shell line, the words of a command, or launches. ``release`` is ``vllm==0.33.0``, ``vllm``, or a
        folder: a checkout of the engine, an unpacked sdist or wheel, an environment that it is installed in. ``gpu`` is
        ``H100:8`` or several of that kind; ``models_dir`` a folder ``ORG/NAME/config.json``; ``model_facts`` says which
        model a path is; ``env`` is added to the launch's environment. ``without`` names packages of the image that are not
        there, ``with_`` such that are there besides (``ray``, ``ray==2.50``), by distribution or import name. Without
        ``hub`` nothing is asked of the model hub; ``allow_code`` trusts variables that bring code. Raises UsageProblem for
        what makes no sense and OwnProblem where gonogo cannot do its work.
        """
        launches = launches_of(command)
        check_environment(env or {})
        gpus = (gpu,) if isinstance(gpu, str) else tuple(gpu or ())
        chosen = choose_packages(_words(without), _words(with_))
        results = []
        for launch in launches:
            launch = without_secrets(replace(launch, env={**launch.env, **(env or {})}))
            mounted = {**_mounts(launch), **(model_facts or {})}
            folder = Path(models_dir) if models_dir is not None else None
            models = Models(folder, mounted, hub=hub, cache=self._cache, progress=self._progress)
            results.append(self._check(launch, release, gpus, models, chosen, allow_code))
        return CheckResult(worst(result.verdict for result in results), tuple(results))

    def _check(
        self,
        launch: Launch,
        release: str | Path | None,
        gpus: tuple[str, ...],
        models: Models,
        chosen: ChosenPackages,
        allow_code: bool,
    ) -> LaunchResult:
        hardware = choose_hardware(gpus, launch.gpu_count)
        choice = choose_releases(launch, release, self._releases)
        worlds: list[WorldResult] = []
        assumed = [*choice.assumed, *hardware.assumed, *launch.notes]
        for version in choice.versions:
            try:
                found = self._releases.get(launch.engine, version)
            except OwnProblem as problem:
                if len(choice.versions) == 1 and not isinstance(problem, ReleaseProblem):
                    raise
                worlds.append(_not_run(version, choice, hardware.hardware[0], str(problem)))
                continue
            assumed += packages_assumed(found, hardware.hardware)
            applied = in_release(chosen, found, self._releases)
            assumed += applied.assumed
            for one, sized in zip(hardware.hardware, hardware.sized, strict=True):
                world = World(applied.release, one, applied.packages)
                for model, size, run in self._in_models(launch, world, models, sized, allow_code):
                    worlds.append(_world(found, choice, size, model, run, launch))
                    assumed += run.assumed
        assumed += _told(models, worlds)
        results = tuple(worlds)
        return LaunchResult(
            source=launch.source,
            argv=launch.argv,
            env=launch.env,
            engine=launch.engine,
            verdict=verdict_of(results),
            decided_by=decided_by(results),
            assumed=tuple(dict.fromkeys([*assumed, *self._releases.notes])),
            not_checked=_not_checked(results),
            worlds=results,
        )

    def _in_models(
        self, launch: Launch, world: World, models: Models, sized: bool, allow_code: bool
    ) -> list[tuple[str | None, Hardware, DryRun]]:
        """(model, hardware, dry run) with the models' own facts, or in every shape that missing ones could have."""
        hardware, run = self._sized(launch, world, models, sized, allow_code)
        if not run.missing:
            return [(_model(run, models), hardware, run)]
        found: list[tuple[str | None, Hardware, DryRun]] = []
        missing = run.missing
        while not found:
            told, by_name = assumptions_by_name(missing, models, world.release, self._cache)
            for assumed in by_name:
                hardware, tried = self._sized(launch, world, assumed, sized, allow_code)
                fresh = [name for name in tried.missing if name not in missing]
                if fresh:  # what one model is known by, the engine asks for another: a draft
                    missing += tuple(fresh)
                    found = []
                    break
                found.append((f"{_model(tried, assumed)} ({told})", hardware, tried))
            else:
                break
        if found and all(tried.outcome.kind == "passed" for _, _, tried in found):
            return found[:1]
        by_its_name = list(found)
        for word, assumed in assumptions(missing, models):
            hardware, tried = self._sized(launch, world, assumed, sized, allow_code)
            found.append((f"{_model(tried, assumed)} ({word})", hardware, tried))
        if not found:
            return [(_model(run, models), hardware, run)]
        kinds = {tried.outcome.kind for _, _, tried in found}
        errors = {tried.outcome.error for _, _, tried in found}
        if len(kinds) == 1 and len(errors) == 1 and kinds != {"crashed"}:
            return found[:1]
        if kinds <= {"refused", "crashed"}:
            ends = {(tried.outcome.kind, tried.outcome.error) for _, _, tried in by_its_name}
            if len(ends) == 1 and by_its_name[0][2].outcome.kind == "refused":
                return by_its_name[:1]  # no model passes, and what the name tells says why
            return [(model, size, _each_its_own(tried)) for model, size, tried in found]
        return found

    def _sized(
        self, launch: Launch, world: World, models: Models, sized: bool, allow_code: bool
    ) -> tuple[Hardware, DryRun]:
        def tried(world: World) -> DryRun:
            return self._runs.run(launch, world, models, allow_code)

        def run(hardware: Hardware) -> DryRun:
            there = replace(world, hardware=hardware)
            found = tried(there)
            known = launch.image is not None or world.release.installed is not None
            return found if known else with_versions_open(with_packages_open(found, there, tried), there)

        if not sized:
            return world.hardware, run(world.hardware)
        return fit(world.hardware, engine_named(launch.engine), run)

    def close(self) -> None:
        """End the children."""
        self._runs.close()

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def _each_its_own(run: DryRun) -> DryRun:
    """A refusal where another stand-in was refused for another reason: then it may be the stand-in that is refused."""
    reason = "every stand-in for the model is refused, but each for a reason of its own"
    return replace(run, outcome=replace(run.outcome, kind="unclear", reason=reason, depends_on=("the model",)))


def _words(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _mounts(launch: Launch) -> dict[str, str | Path]:
    """Folders of this machine that the launch's container sees, where they exist here."""
    return {inside: Path(outside) for inside, outside in launch.mounts.items() if Path(outside).is_dir()}


def _model(run: DryRun, models: Models) -> str | None:
    for name in run.asked:
        facts = models.local(name) or models.facts(name)
        return name if facts is None else facts.name
    return None


def _world(
    release: Release, choice: ReleaseChoice, hardware: Hardware, model: str | None, run: DryRun, launch: Launch
) -> WorldResult:
    outcome = run.outcome
    if launch.unread and outcome.kind != "unclear":
        reason = f"the launch says what cannot be read here: {'; '.join(launch.unread)}"
        outcome = replace(outcome, kind="unclear", reason=reason, depends_on=(*outcome.depends_on, *launch.unread))
    return WorldResult(
        release=release.version,
        release_from=choice.chosen_by,
        gpu=hardware.gpu.name,
        count=hardware.count,
        nodes=hardware.nodes,
        model=model,
        outcome=outcome.kind,
        reason=outcome.reason,
        stages=outcome.stages,
        error=outcome.error,
        depends_on=outcome.depends_on,
        warnings=outcome.warnings,
        resolved=outcome.resolved,
    )


def _not_checked(worlds: tuple[WorldResult, ...]) -> tuple[str, ...]:
    """What nobody looked at: the backends too where a world that passes did not come so far."""
    passed = [world for world in worlds if world.outcome == "passed"]
    seen = all(world.stages.get("backends") == "passed" for world in passed)
    return _NOT_CHECKED if seen else ("backends", *_NOT_CHECKED)


def _not_run(version: str, choice: ReleaseChoice, hardware: Hardware, why: str) -> WorldResult:
    return WorldResult(
        release=version.partition("@")[0],
        release_from=choice.chosen_by,
        gpu=hardware.gpu.name,
        count=hardware.count,
        nodes=hardware.nodes,
        model=None,
        outcome="unclear",
        reason=f"this release cannot be run: {why}",
    )


def _told(models: Models, worlds: list[WorldResult]) -> list[str]:
    """What was assumed of models."""
    told = []
    for name in dict.fromkeys(world.model for world in worlds if world.model):
        if name.endswith(")"):
            told.append(f"model facts: {name}")
            continue
        facts = models.local(name) or models.facts(name)
        if facts is not None:
            told.append(f"model facts: {facts.name} from the {facts.origin}")
    return [*told, *(f"model facts: {note}" for note in models.notes)]
