"""Which releases a launch is tried on: the one that was asked for, the image's, the installed one, or the newest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gonogo.check.result import ReleaseFrom
from gonogo.hardware.types import Hardware
from gonogo.launches.types import Launch
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.releases import Release, Releases

_TRIED_WHEN_MOVING = 3


@dataclass(frozen=True)
class ReleaseChoice:
    """Keys of the releases to try (versions, for those of the index), where they come from, and what is assumed in that."""

    versions: tuple[str, ...]
    chosen_by: ReleaseFrom
    assumed: tuple[str, ...] = ()


def choose_releases(launch: Launch, option: str | Path | None, releases: Releases) -> ReleaseChoice:
    """The releases of this launch. A moving tag leaves them open: the newest and the two before it.

    ``option`` is ``ENGINE``, ``ENGINE==VERSION`` or a folder. Raises UsageProblem for one that names another engine than
    the launch, OwnProblem for a folder that cannot be read.
    """
    if option:
        if isinstance(option, Path) or releases.is_folder(option):
            return ReleaseChoice((releases.take(launch.engine, Path(option)),), "option")
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
    try:
        installed = releases.installed(launch.engine)
    except OwnProblem as problem:
        raise OwnProblem(f"{problem}; it is the installed {launch.engine}, --release names another one") from problem
    if installed is not None:
        return ReleaseChoice((installed,), "installed", ("release: installed",))
    return ReleaseChoice((releases.newest(launch.engine),), "newest", ("release: newest",))


def packages_assumed(release: Release, hardware: Sequence[Hardware]) -> list[str]:
    """Which packages stand beside a release that was found installed, in which worlds."""
    if release.installed is None:
        return []
    vendor, count = release.installed.vendor, len(release.installed.beside)
    others = sorted({one.gpu.vendor for one in hardware} - {vendor})
    told = [f"packages: the {count} that are installed beside {release.engine}"]
    if others:
        told.append(
            f"packages: for {' and '.join(others)} those of the official image, as it is installed for {vendor}"
        )
    return told if len(others) < len({one.gpu.vendor for one in hardware}) else told[1:]
