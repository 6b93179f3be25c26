"""Which hardware a launch is tried on: what was asked for, else a representative set, as many GPUs as the launch uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gonogo.dryrun import DryRun
from gonogo.engines.types import Engine
from gonogo.hardware.parse import parse_hardware
from gonogo.hardware.representative import representative
from gonogo.hardware.types import Hardware
from gonogo.problems import UsageProblem

_PER_NODE = 8


@dataclass(frozen=True)
class HardwareChoice:
    """Hardware to try, and what is assumed in that. ``sized`` says of each: its count is still to be fitted to the launch."""

    hardware: tuple[Hardware, ...]
    sized: tuple[bool, ...]
    assumed: tuple[str, ...] = ()


def choose_hardware(options: tuple[str, ...], count: int | None) -> HardwareChoice:
    """The hardware of a launch. ``count`` is what its container is given, None where that is open.

    Raises UsageProblem for an unknown GPU.
    """
    if options:
        chosen = [parse_hardware(option) for option in options]
        assumed = tuple(note for one in chosen for note in getattr(one, "assumed", ()))
        sized = tuple(
            ":" not in option and one.gpu.vendor != "cpu" for option, one in zip(options, chosen, strict=True)
        )
        if count:
            chosen = [replace(one, count=count) if fits else one for one, fits in zip(chosen, sized, strict=True)]
            sized = (False,) * len(chosen)
        return HardwareChoice(tuple(chosen), sized, assumed)
    chosen = list(representative(count or _PER_NODE))
    names = ", ".join(one.gpu.name for one in chosen)
    return HardwareChoice(tuple(chosen), (count is None,) * len(chosen), (f"gpu: open, tried on {names}",))


def fit(hardware: Hardware, engine: Engine, run: Callable[[Hardware], DryRun]) -> tuple[Hardware, DryRun]:
    """The hardware with as many GPUs as the launch uses, and the dry run there.

    A launch that passes on a whole node says itself how many it uses. One that does not may have been refused for their
    number: then more are tried, and it counts as refused only if no number helps.
    """
    if hardware.gpu.vendor == "cpu":
        return hardware, run(hardware)
    whole = replace(hardware, count=_PER_NODE, nodes=1)
    first = run(whole)
    if first.outcome.kind == "passed":
        used = _used(first, engine)
        if used in (None, _PER_NODE):
            return whole, first
        smaller = _spread(hardware, used or 1)
        again = run(smaller)
        return (smaller, again) if again.outcome.kind == "passed" else (whole, first)
    for count, nodes in ((16, 1), (8, 2), (8, 4)):
        more = replace(hardware, count=count, nodes=nodes)
        other = run(more)
        if other.outcome.kind == "passed":
            fitted = _spread(hardware, _used(other, engine) or count * nodes)
            again = run(fitted)
            return (fitted, again) if again.outcome.kind == "passed" else (more, other)
        if other.outcome == first.outcome:
            break
    return whole, first


def _used(run: DryRun, engine: Engine) -> int | None:
    """How many GPUs of one node the launch uses, by the values that the engine settled on."""
    product = 1
    for name in engine.table["parallelism"]["sizes"]:
        value = run.outcome.resolved.get(name)
        if value is not None and value.isdigit():
            product *= int(value)
    nodes = run.outcome.resolved.get(engine.table["parallelism"]["nodes"], "1")
    if product < 1:
        return None
    return max(1, product // int(nodes)) if nodes.isdigit() and int(nodes) > 1 else product


def _spread(hardware: Hardware, used: int) -> Hardware:
    """``used`` GPUs in as few nodes as hold them."""
    if used <= _PER_NODE:
        return replace(hardware, count=used, nodes=1)
    nodes = -(-used // _PER_NODE)
    if nodes * _PER_NODE > 1024:
        raise UsageProblem(f"the launch uses {used} GPUs, more than gonogo looks at")
    return replace(hardware, count=_PER_NODE if used % nodes else used // nodes, nodes=nodes)
