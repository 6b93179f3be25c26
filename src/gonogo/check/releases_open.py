"""Which releases a launch is tried on: the one that was asked for, the image's, the installed one, or the newest."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass

from gonogo.check.result import ReleaseFrom
from gonogo.launches.types import Launch
from gonogo.problems import UsageProblem
from gonogo.releases import Releases

_TRIED_WHEN_MOVING = 3


@dataclass(frozen=True)
class ReleaseChoice:
    """Versions to try, where they come from, and what is assumed in that."""

    versions: tuple[str, ...]
    chosen_by: ReleaseFrom
    assumed: tuple[str, ...] = ()


def choose_releases(launch: Launch, option: str | None, releases: Releases) -> ReleaseChoice:
    """The releases of this launch. A moving tag leaves them open: the newest and the two before it.

    Raises UsageProblem for an option that names another engine than the launch.
    """
    if option:
        engine, version = releases.parse(option)
        if engine != launch.engine:
            raise UsageProblem(f"--release {option} does not fit the launch, which starts {launch.engine}")
        if version is not None:
            return ReleaseChoice((version,), "option")
        return ReleaseChoice((releases.newest(engine),), "newest", ("release: newest",))
    if launch.release:
        return ReleaseChoice((str(releases.parse(launch.release)[1]),), "image")
    if launch.image:
        final = [info.version for info in releases.known(launch.engine) if not info.prerelease and not info.yanked]
        tried = tuple(final[:_TRIED_WHEN_MOVING]) or (releases.newest(launch.engine),)
        return ReleaseChoice(tried, "image", (f"release: {launch.image} does not say which; tried {', '.join(tried)}",))
    installed = _installed(launch.engine)
    if installed is not None:
        return ReleaseChoice((installed,), "installed", ("release: installed",))
    return ReleaseChoice((releases.newest(launch.engine),), "newest", ("release: newest",))


def _installed(engine: str) -> str | None:
    try:
        return importlib.metadata.version(engine).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None
