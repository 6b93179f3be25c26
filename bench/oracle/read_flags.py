#!/usr/bin/env python
"""Read out the real engine's parser: every flag, and the fields of the JSON ones, as one JSON object.

PYTHON_OF_THE_ENVIRONMENT read_flags.py vllm|sglang > flags.json
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import importlib
import importlib.util
import json
import sys
import types
import typing
from typing import Any

Row = dict[str, Any]


def _kind(made: Any) -> str:
    """The name of what turns the word into a value; for a wrapper like ``optional_type(int)``, what it wraps."""
    if made is None:
        return "str"
    for cell in getattr(made, "__closure__", None) or ():
        if "optional" in getattr(made, "__qualname__", "") and callable(cell.cell_contents):
            return _kind(cell.cell_contents)
    return str(getattr(made, "__qualname__", made))


def _parser_rows(parser: argparse.ArgumentParser) -> list[Row]:
    return [
        {
            "flags": [flag for flag in action.option_strings if flag.startswith("--")],
            "dest": action.dest,
            "kind": _kind(action.type),
            "switch": action.nargs == 0 or "Boolean" in type(action).__name__,
            "several": action.nargs in ("+", "*"),
            "choices": [str(choice) for choice in action.choices] if action.choices else None,
        }
        for action in parser._actions
        if any(flag.startswith("--") for flag in action.option_strings)
    ]


def _options_of(hint: Any) -> tuple[set[str], list[Any]]:
    """Which plain kinds a field may have, and which values when those can be listed."""
    if typing.get_origin(hint) is typing.Literal:
        return {"str"}, list(typing.get_args(hint))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"str"}, [one.value if isinstance(one.value, str) else one.name for one in hint]
    if typing.get_origin(hint) in (typing.Union, types.UnionType, typing.Annotated):
        kinds: set[str] = set()
        values: list[Any] = []
        for part in typing.get_args(hint):
            more, listed = _options_of(part)
            kinds |= more
            values += listed
        return kinds, values
    origin = typing.get_origin(hint) or hint
    return {getattr(origin, "__name__", "str")}, []


def _fields(config: Any, depth: int = 0) -> Row:
    """``{field: {"kinds", "choices", "fields"}}`` of a configuration class; fields of fields one level down."""
    try:
        hints = typing.get_type_hints(config, include_extras=False)
    except (NameError, TypeError):
        hints = {}
    rows: Row = {}
    for field in dataclasses.fields(config):
        hint = hints.get(field.name, field.type)
        kinds, values = _options_of(hint)
        row: Row = {"kinds": sorted(kinds), "choices": [one for one in values if isinstance(one, str | int)]}
        inner = [
            one for one in (hint, *typing.get_args(hint)) if isinstance(one, type) and dataclasses.is_dataclass(one)
        ]
        if inner and depth == 0:
            row["fields"] = _fields(inner[0], 1)
        rows[field.name] = row
    return rows


def _vllm() -> list[Row]:
    import vllm.config
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    sys.argv = ["vllm", "serve", "--help"]  # the release fills in its parser only for a reader
    places = (f"vllm.entrypoints.{name}.cli_args" for name in ("common", "launchers", "openai"))
    place = next(name for name in places if importlib.util.find_spec(name) is not None)
    rows = _parser_rows(importlib.import_module(place).make_arg_parser(FlexibleArgumentParser()))
    for row in rows:
        name = "".join(word.title() for word in row["dest"].split("_"))
        by_lower = {one.lower(): getattr(vllm.config, one) for one in dir(vllm.config)}
        config = by_lower.get(name.lower())
        if dataclasses.is_dataclass(config):
            row["fields"] = _fields(config)
    return rows


def _sglang() -> list[Row]:
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    return _parser_rows(parser)


def flags(engine: str) -> list[Row]:
    """Every flag of the parser of ``vllm`` or ``sglang``, as it is installed here."""
    return _vllm() if engine == "vllm" else _sglang()


def main() -> None:
    if sys.argv[1:] not in (["vllm"], ["sglang"]):
        sys.exit(__doc__)
    engine = sys.argv[1]
    json.dump({"engine": engine, "flags": flags(engine)}, sys.__stdout__ or sys.stdout, indent=1)


if __name__ == "__main__":
    main()
