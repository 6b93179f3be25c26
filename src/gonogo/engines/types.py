"""What the rest of gonogo needs to know of an engine; the facts are data in the engine's own folder (engine.toml)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from gonogo.problems import UsageProblem

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Engine:
    """One engine.

    ``name`` is gonogo's word and the distribution on the package index, ``package`` the import name. ``archive`` is the
    kind of file that holds its full source. ``commands`` are its console scripts with the sub-command that starts a
    server, ``modules`` what ``python -m`` starts, ``classes`` what a Python expression calls. ``images`` are repository
    names of container images whose tag is the release, with the words their entry point already supplies. ``faked`` are import
    names of packages that need a GPU or weigh much and are stood in for by a fake, by vendor; ``absent`` those that the
    official image does not have. ``unneeded`` are distributions that start-up code never imports. ``folder`` is the
    engine's folder in gonogo, with ``inside.py``.
    """

    name: str
    package: str
    archive: Literal["sdist", "wheel"]
    commands: dict[str, str]
    modules: tuple[str, ...]
    classes: tuple[str, ...]
    images: dict[str, tuple[str, ...]]
    table: dict[str, Any]
    folder: Path

    @property
    def wheel_of(self) -> str | None:
        """The vendor whose build the wheel on the package index is; None: it is everybody's."""
        vendor = self.table.get("build", {}).get("wheel")
        return None if vendor is None else str(vendor)

    @property
    def inside(self) -> Path:
        """The file that is loaded into the child."""
        return self.folder / "inside.py"


@cache
def _load(name: str) -> Engine:
    folder = _HERE / name
    table = tomllib.loads((folder / "engine.toml").read_text())
    return Engine(
        name=name,
        package=table["package"],
        archive=table["archive"],
        commands=table["commands"],
        modules=tuple(table["modules"]),
        classes=tuple(table["classes"]),
        images={image: tuple(words) for image, words in table["images"].items()},
        table=table,
        folder=folder,
    )


ENGINES = ("vllm", "sglang")


def engine_named(name: str) -> Engine:
    """The engine called ``name``. Raises UsageProblem for one that gonogo does not know."""
    if name not in ENGINES:
        raise UsageProblem(f"unknown engine {name!r}: gonogo knows {' and '.join(ENGINES)}")
    return _load(name)
