"""Optional packages where the launch names no image: the engine may stand in an environment of its user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gonogo.dryrun import DryRun, World


def with_packages_open(run: DryRun, world: World, again: Callable[[World], DryRun]) -> DryRun:
    """``run``, a dry run with the packages of the official image, unless it hangs on one that may be installed besides.

    A refusal that speaks of a package which ``world`` lacks is tried again with it. If that ends otherwise, nobody knows.
    """
    if run.outcome.kind != "refused":
        return run
    decides = []
    for name in run.lacks:
        other = again(replace(world, packages={**world.packages, name: True}))
        if (other.outcome.kind, other.outcome.error) != (run.outcome.kind, run.outcome.error):
            decides.append(
                f"whether the package {name} is installed, which the official image does not have"
                f" (--with {name} and --without {name} say it)"
            )
    if not decides:
        return run
    reason = f"it depends on {'; '.join(decides)}"
    return replace(run, outcome=replace(run.outcome, kind="unclear", reason=reason, depends_on=tuple(decides)))
