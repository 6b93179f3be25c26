"""Writes the names of torch's modules, by which the fake torch knows which of its modules really exist.

    PYTHON_WITH_TORCH bench/make_torch_names.py > src/gonogo/dryrun/inside/torch_modules.txt

Reads file names only; runs nothing of torch but its version file.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

_LEFT_OUT = ("testing", "_vendor", "lib", "bin", "include", "share", "test")


def main() -> None:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    names = {"torch"}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if not set(parts) & set(_LEFT_OUT) and len(parts) <= 4:
            names.add(".".join(("torch", *(part for part in parts if part != "__init__"))))
    print(f"# modules of torch {importlib.metadata.version('torch')}, by bench/make_torch_names.py")
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    main()
