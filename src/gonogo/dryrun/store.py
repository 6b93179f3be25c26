"""Files in a cache: written whole or not at all, and a broken JSON file is as good as none."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def read_json(path: Path) -> Any:
    """What the file holds; None where there is none or it is broken."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def write_json(path: Path, value: Any) -> None:
    """Put ``value`` there in one step. A full disk or a read-only cache loses the record, not the work."""
    write_bytes(path, json.dumps(value).encode())


def write_bytes(path: Path, content: bytes) -> None:
    """The same for any content."""
    draft = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(draft).replace(path)
    except OSError:
        if draft:
            Path(draft).unlink(missing_ok=True)
