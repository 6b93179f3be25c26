"""A world: all that a dry run must assume, and its description for the child."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

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
        faked, absent = self._packages()
        versions = dict(release.versions)
        cuda = (
            versions.get("nvidia-cuda-runtime")
            or versions.get("nvidia-cuda-runtime-cu12")
            or versions.get("nvidia-cuda-runtime-cu11")
        )
        if cuda:
            versions["cuda"] = ".".join(cuda.split(".")[:2])
        image = table.get("image", {}).get(self.hardware.gpu.vendor, {})
        suffix = table.get("version_suffix", {}).get(self.hardware.gpu.vendor, "")
        distributions = {engine.name: release.version + suffix}
        for name, distribution in self._table().items():
            if distribution and name in faked:
                distributions[distribution] = versions.get(distribution, "1.0.0")
        distributions |= {name: version for name, version in versions.items() if _import_name(name) in faked}
        distributions |= {
            name: versions[like] for name, like in image.get("distributions", {}).items() if like in versions
        }
        return {
            "package": engine.package,
            "adapter": str(engine.inside),
            "release_root": str(release.root),
            "environment": str(release.environment),
            "versions": versions,
            "faked": faked,
            "absent": sorted(absent),
            "distributions": distributions,
            "modules": self._modules(distributions, faked),
            "hardware": self._hardware(),
            "env": {**BASE_ENV, **image.get("env", {}), **self.env},
            "preload": table["child"]["preload"],
            "nvml": table["child"]["nvml"],
            "tools": image.get("tools", []),
            "wheel_files": table.get("wheel_files", {}).get(self.hardware.gpu.vendor, []),
            "limits": self.limits,
            "withheld": sorted(self.withheld),
        }

    def _hardware(self) -> dict[str, Any]:
        told = asdict(self.hardware)
        for name in ("sources", "aliases"):
            told["gpu"].pop(name)
        told.pop("assumed", None)
        return told

    def _table(self) -> dict[str, str]:
        packages = self.engine.table["packages"]
        return {**packages["all"], **packages.get(self.hardware.gpu.vendor, {})}

    def _modules(self, distributions: dict[str, str], faked: dict[str, str]) -> dict[str, list[str]]:
        """The top modules that each distribution brings, which code may ask for by either name."""
        brought = {name: {_import_name(name)} & set(faked) for name in distributions}
        brought[self.engine.name] = {self.engine.package}
        for module, distribution in self._table().items():
            if module in faked and distribution in brought:
                brought[distribution].add(module.partition(".")[0])
        return {name: sorted(modules) for name, modules in brought.items()}

    def _packages(self) -> tuple[dict[str, str], set[str]]:
        """Import names that are faked, with their version, and those that must not be found.

        Faked are the packages of the engine's table for this vendor, and what the release requires but its light
        environment leaves out: it is in the image, and a dry run that comes to it must not take it for missing.
        """
        packages, vendor = self.engine.table["packages"], self.hardware.gpu.vendor
        versions, table = self.release.versions, self._table()
        installed = _installed(self.release.environment)
        faked = {
            name: versions.get(distribution, "1.0.0") if distribution else "" for name, distribution in table.items()
        }
        elsewhere = {name for other in packages if other not in ("all", vendor) for name in packages[other]} - set(
            table
        )
        for distribution, version in versions.items():
            name = _import_name(distribution)
            known = distribution in table.values() or name in faked or name in elsewhere or name == self.engine.package
            vendors_own = vendor != "nvidia" and distribution in packages.get("nvidia", {}).values()
            if (
                not known
                and not vendors_own
                and not (self.release.environment / name).exists()
                and name not in installed
            ):
                faked[name] = version
        absent = set(elsewhere)
        for name, there in self.packages.items():
            if there:
                faked.setdefault(name, versions.get(name, "1.0.0"))
                absent.discard(name)
            else:
                faked = {
                    each: version for each, version in faked.items() if each != name and not each.startswith(name + ".")
                }
                absent.add(name)
        return faked, absent


def _import_name(distribution: str) -> str:
    return re.sub(r"[-.]+", "_", distribution)


@cache
def _installed(environment: Path) -> frozenset[str]:
    """Distributions of a light environment, named as its folders are. Every dry run asks, and an environment never changes."""
    return frozenset(place.name.partition("-")[0] for place in environment.glob("*-*.dist-info"))
