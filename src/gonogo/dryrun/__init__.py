"""Dry runs: the engine's start-up code run in one world → outcome. A child per release and hardware, a fork per launch."""

from gonogo.dryrun.dryruns import DryRuns
from gonogo.dryrun.memory import Memory
from gonogo.dryrun.outcome import DryRun, Error, Outcome, Site
from gonogo.dryrun.world import World

__all__ = ["DryRun", "DryRuns", "Error", "Memory", "Outcome", "Site", "World"]
