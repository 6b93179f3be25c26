"""A world: all that a dry run must assume, and its description for the child."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from gonogo.dryrun.packages import distributions_in, modules_of, packages_in, told_by_environment, vendors_table
from gonogo.engines.types import Engine, engine_named
from gonogo.hardware.types import Hardware
from gonogo.releases import Release

#: The environment of a process in the official images, as far as it matters to anybody.
BASE_ENV = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
}


@dataclass(frozen=True)
class World:
    """A release on hardware. ``packages`` says of an import name that it is there or not, against the official image.

    ``env`` are variables that every launch in this world finds set; ``limits`` bound one dry run (``seconds``,
    ``cpu_seconds``, ``memory_bytes``, ``file_bytes``). ``withheld`` names facts of the hardware that nobody is to know
    (``capability``, ``count``, ``memory``, ``ram``, ``vendor``): negative controls, which an outcome that needs one must
    show.
    """

    release: Release
    hardware: Hardware
    packages: dict[str, bool] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    withheld: frozenset[str] = frozenset()

    @property
    def engine(self) -> Engine:
        """The engine of the release."""
        return engine_named(self.release.engine)

    def description(self) -> dict[str, Any]:
        """What the child is told, in JSON's types."""
        engine, release = self.engine, self.release
        table = engine.table
        vendor = self.hardware.gpu.vendor
        packages = packages_in(engine, release, vendor, self.packages)
        versions = dict(release.versions)
        cuda = (
            versions.get("nvidia-cuda-runtime")
            or versions.get("nvidia-cuda-runtime-cu12")
            or versions.get("nvidia-cuda-runtime-cu11")
        )
        if cuda:
            versions["cuda"] = ".".join(cuda.split(".")[:2])
        image = table.get("image", {}).get(vendor, {})
        distributions = {engine.name: self._version()}
        distributions |= distributions_in(packages.faked, vendors_table(engine, vendor), release)
        if not told_by_environment(release, vendor):
            distributions |= {
                name: versions[like]
                for name, like in image.get("distributions", {}).items()
                if like in versions and like in distributions
            }
        return {
            "package": engine.package,
            "adapter": str(engine.inside),
            "release_root": str(release.root),
            "environment": str(release.environment),
            "versions": versions,
            "faked": packages.faked,
            "absent": sorted(packages.absent),
            "hidden": packages.hidden,
            "empty": packages.empty,
            "unlisted": packages.unlisted,
            "distributions": distributions,
            "modules": {
                **modules_of(distributions, packages.faked, vendors_table(engine, vendor), release),
                engine.name: [engine.package],
            },
            "hardware": self._hardware(),
            "env": {**BASE_ENV, **image.get("env", {}), **self.env},
            "preload": table["child"]["preload"],
            "nvml": table["child"]["nvml"],
            "tools": image.get("tools", []),
            "limits": self.limits,
            "withheld": sorted(self.withheld),
        }

    def _version(self) -> str:
        """The version that the vendor's build of the engine has."""
        version, vendor = self.release.version, self.hardware.gpu.vendor
        build = self.release.build
        if "+" in version and (build is None or build.vendor in (None, vendor)):
            return version
        return version.partition("+")[0] + str(self.engine.table.get("version_suffix", {}).get(vendor, ""))

    def _hardware(self) -> dict[str, Any]:
        told = asdict(self.hardware)
        for name in ("sources", "aliases"):
            told["gpu"].pop(name)
        told.pop("assumed", None)
        return told
