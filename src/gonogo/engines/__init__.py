"""The engines gonogo knows: a folder each, all that is special to it."""

from gonogo.engines.types import ENGINES, Engine, engine_named

__all__ = ["ENGINES", "Engine", "engine_named"]
