"""The tables of transformers' auto classes: model type → names of classes. Read in a light environment, not run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_ENDS = "_MAPPING_NAMES"


@lru_cache(maxsize=8)
def auto_tables(environment: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """Name of a table (``IMAGE_PROCESSOR_MAPPING_NAMES``) → model type → the classes that stand there."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for path in sorted((environment / "transformers" / "models" / "auto").glob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Assign):
                continue
            for target in node.targets:
                # From 5 on a table is generated, and what is added to it stands in one of the same name with MISSING_.
                name = target.id.removeprefix("MISSING_") if isinstance(target, ast.Name) else ""
                if name.endswith(_ENDS):
                    rows = found.setdefault(name, {})
                    rows.update(row for row in _rows(node.value) if row[0] not in rows)
    return found


def _rows(value: ast.expr) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The rows of a table: pairs in a call's list, or a dictionary."""
    for node in ast.walk(value):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[0], ast.Constant):
            pairs = [(node.elts[0], node.elts[1])]
        elif isinstance(node, ast.Dict):
            pairs = [
                (key, each) for key, each in zip(node.keys, node.values, strict=True) if isinstance(key, ast.Constant)
            ]
        else:
            continue
        for key, named in pairs:
            texts = [one.value for one in ast.walk(named) if isinstance(one, ast.Constant)]
            classes = tuple(text for text in texts if isinstance(text, str) and text[:1].isupper())
            if isinstance(key.value, str) and classes:
                yield key.value, classes
