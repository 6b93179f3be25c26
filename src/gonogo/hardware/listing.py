"""What hardware is known, as rows to print."""

from __future__ import annotations

from dataclasses import dataclass, field

from gonogo.hardware.catalog import catalog


@dataclass(frozen=True)
class Row:
    """One known GPU.

    ``memory_gib`` is what the driver reports. ``capability`` is ``9.0`` for CUDA, ``gfx942`` for AMD, empty for
    ``cpu``. ``aliases`` are other names that find it, family names last. ``sources`` says for each fact where it comes
    from, and ``unconfirmed`` counts those that were not seen as such.
    """

    name: str
    vendor: str
    memory_gib: float
    capability: str
    aliases: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)

    @property
    def unconfirmed(self) -> int:
        """How many facts follow from something else instead of having been seen."""
        return sum(source.startswith("derived:") for source in self.sources.values())


def gpu_rows() -> tuple[Row, ...]:
    """A row for every known GPU, in the order of the catalog."""
    known = catalog()
    return tuple(
        Row(
            name=gpu.name,
            vendor=gpu.vendor,
            memory_gib=gpu.memory_mib / 1024,
            capability=gpu.gfx or (f"{gpu.capability[0]}.{gpu.capability[1]}" if gpu.capability else ""),
            aliases=gpu.aliases + tuple(family for family, named in known.families.items() if named == gpu),
            sources=dict(gpu.sources),
        )
        for gpu in known.gpus
    )
