"""A stand-in tokenizer for a model whose own is not among its facts: it knows every special token that the engine names.

Parsers for tools and reasoning refuse a tokenizer without their tokens. A real model's tokenizer has its family's; which
those are stands in the engine's source, so the stand-in has the tokens of all families.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from gonogo.dryrun.store import read_json, write_json
from gonogo.models.standins import stand_in
from gonogo.releases import Release

_TOKEN = re.compile(rb"""["'](<[^<>\s"'{}\\]{1,40}>|\[[A-Z_/]{2,24}\])["']""")
_MOST = 4000

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
_OTHER_TOKENIZERS = ("tokenizer.model", "tekken.json", "vocab.json", "merges.txt", "spiece.model")


def has_tokenizer(files: dict[str, str]) -> bool:
    """Is there a tokenizer of any kind among these files?"""
    return any(name in files for name in (*TOKENIZER_FILES[:1], *_OTHER_TOKENIZERS))


def stand_in_tokenizer(release: Release, cache: Path) -> dict[str, str]:
    """File name → file of the stand-in tokenizer for this release, written to ``cache`` once."""
    files = {name: str(path) for name, path in stand_in("", "dense").files.items() if name in TOKENIZER_FILES}
    place = cache / f"{release.identity}-tokenizer.json"
    if not isinstance(read_json(place), dict):
        tokenizer = json.loads(Path(files["tokenizer.json"]).read_text())
        known = {token["content"] for token in tokenizer.get("added_tokens", [])}
        first = 1 + max(
            [*tokenizer["model"]["vocab"].values(), *(token["id"] for token in tokenizer.get("added_tokens", []))]
        )
        fresh = [text for text in _tokens_in(release.root) if text not in known][:_MOST]
        tokenizer.setdefault("added_tokens", []).extend(
            {
                "id": first + number,
                "content": text,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, text in enumerate(fresh)
        )
        write_json(place, tokenizer)
    return {**files, "tokenizer.json": str(place)} if place.exists() else files


def _tokens_in(root: Path) -> list[str]:
    """Texts in the source that look like special tokens."""
    found: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        try:
            found.update(match.decode(errors="ignore") for match in _TOKEN.findall(path.read_bytes()))
        except OSError:
            continue
    return sorted(found)
