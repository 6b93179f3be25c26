"""Writes names by which the fake torch knows what really exists: torch's modules, or what its classes have.

PYTHON_WITH_TORCH bench/make_torch_names.py modules > src/gonogo/dryrun/inside/torch_modules.txt
PYTHON_WITH_TORCH bench/make_torch_names.py attributes > src/gonogo/dryrun/inside/torch_attributes.txt
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

_LEFT_OUT = ("testing", "_vendor", "lib", "bin", "include", "share", "test")


def modules() -> list[str]:
    """Names of torch's modules; reads file names only."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    names = {"torch"}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if not set(parts) & set(_LEFT_OUT) and len(parts) <= 4:
            names.add(".".join(("torch", *(part for part in parts if part != "__init__"))))
    return sorted(names)


def attributes() -> list[str]:
    """What a tensor, a parameter and a module have, but for special methods: ``Tensor.shape``."""
    torch = importlib.import_module("torch")
    held = {
        "Tensor": dir(torch.Tensor),
        "Parameter": dir(torch.nn.Parameter),
        "Module": {*dir(torch.nn.Module), *vars(torch.nn.Module())},
    }
    return sorted(f"{kind}.{name}" for kind, names in held.items() for name in names if not name.startswith("__"))


def main() -> None:
    """Print the names that were asked for."""
    kind = sys.argv[1]
    names = {"modules": modules, "attributes": attributes}[kind]()
    print(f"# {kind} of torch {importlib.metadata.version('torch')}, by bench/make_torch_names.py")
    print("\n".join(names))


if __name__ == "__main__":
    main()
