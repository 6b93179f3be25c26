"""Packages that a refusal speaks of and the world lacks: whether they are installed may be what decides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def packages_named(answer: dict[str, Any], missing: Iterable[str]) -> list[str]:
    """Modules that were looked for in vain and that the refusal names.

    ``missing`` are those that the engine looked for while it was loaded; what this dry run looked for stands in its answer.
    """
    if answer["outcome"] != "refused":
        return []
    said = str(answer.get("root_message") or "")
    # Of a package that is there a part may be missing, as of the engine itself: that is no question of installing it.
    whole = {name for name in (*answer.get("missing", ()), *missing) if "." not in name}
    return sorted(name for name in whole if _names(said, name))


def _names(text: str, module: str) -> bool:
    """Whether ``text`` speaks of the module, spelt as a distribution or in words too."""
    spelt = r"[-_ ]?".join(re.escape(part) for part in module.split("_") if part)
    return bool(spelt) and re.search(rf"(?<![\w.-]){spelt}(?![\w-])", text, re.IGNORECASE) is not None
