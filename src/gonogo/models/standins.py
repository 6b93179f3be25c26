"""Stand-in shapes: what a model could be whose facts can't be had."""

from __future__ import annotations

from pathlib import Path

from gonogo.models.types import ModelFacts

SHAPES = ("dense", "moe", "mla", "hybrid", "multimodal")
_FOLDER = Path(__file__).with_name("shapes")  # written by bench/make_standins.py


def stand_in(name: str, shape: str) -> ModelFacts:
    """The facts of a model ``name`` as if it were of ``shape`` (one of ``SHAPES``).

    A whole repository: besides its small files it lists one safetensors file, so nothing that an engine asks for is
    left open.
    """
    files = {path.name: path for path in sorted((_FOLDER / shape).iterdir()) if path.is_file()}
    return ModelFacts(
        name=name,
        origin="stand-in",
        files=files,
        listed=frozenset(files) | {"model.safetensors"},
        stand_in=shape,
    )


def stand_ins(name: str) -> tuple[ModelFacts, ...]:
    """The facts of ``name`` in every shape: a dry run that ends the same in all does not depend on the model."""
    return tuple(stand_in(name, shape) for shape in SHAPES)
