#!/usr/bin/env python
"""Choose answers to keep as test data, in compact form.

    python record.py FIRST.jsonl FRESH.jsonl --more 150 > tests/data/oracle/ENGINE-RELEASE.jsonl

Lines of both are ``{"launch", "answer"}``. All of FIRST is kept, then of FRESH the shortest launch for each raise site
that is not there yet, launches that warned of something new or came to an end in a new way, and some with an env.
Answers in which a path of this machine stands are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_OF_THIS_MACHINE = re.compile(r"(?:^|[\s'\"(=:])/(?:home|root|tmp|work|usr|opt|var|Users)/")

_WITH_ENV = 12


def compact(launch: Row, answer: Row) -> Row:
    """One line of the record: the exception in normal form, its type without module."""
    kept = {
        "id": launch["id"],
        "argv": launch["argv"],
        "env": launch.get("env") or {},
        "outcome": answer["outcome"],
        "stage": answer["stage"],
        "type": answer["root_type"] and answer["root_type"].rpartition(".")[2],
        "wrapped_by": answer["wrapped_by"],
        "message": answer["root_message"],
        "site": answer["site"],
        "warnings": answer["warnings"],
        "resolved": answer["resolved"],
    }
    return kept | ({"note": answer["note"]} if "note" in answer else {})


def _place(row: Row) -> tuple[str, int] | None:
    return (row["site"]["path"], row["site"]["line"]) if row["site"] else None


def _warned(row: Row) -> set[str]:
    """The places that warned."""
    return {" ".join(text.split(" ")[:2]) for text in row["warnings"]}


def choose(first: list[Row], fresh: list[Row], more: int) -> list[Row]:
    """All of ``first`` and at least ``more`` of ``fresh``."""
    places = {_place(row) for row in first}
    warned = {one for row in first for one in _warned(row)}
    ways = {(row["argv"][1], row["outcome"], row["type"]) for row in first}
    picked: list[Row] = []
    by_length = sorted(fresh, key=lambda row: len(" ".join(row["argv"])))
    for row in by_length:
        if _place(row) not in places and row["outcome"] == "refused":
            places.add(_place(row))
            picked.append(row)
    for row in by_length:
        way = (row["argv"][1], row["outcome"], row["type"])
        if row not in picked and len(picked) < more and (way not in ways or _warned(row) - warned):
            ways.add(way)
            warned |= _warned(row)
            picked.append(row)
    picked += [row for row in by_length if row["env"] and row not in picked][:_WITH_ENV]
    for row in fresh:  # the rest at random: as they were drawn
        if len(picked) < more and row not in picked:
            picked.append(row)
    return first + picked


def _rows(path: Path) -> Iterable[Row]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            both = json.loads(line)
            row = compact(both["launch"], both["answer"])
            if row["stage"] is not None and not _OF_THIS_MACHINE.search(json.dumps(row)):
                yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("fresh", type=Path)
    parser.add_argument("--more", type=int, default=150)
    chosen = parser.parse_args()
    for row in choose(list(_rows(chosen.first)), list(_rows(chosen.fresh)), chosen.more):
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
