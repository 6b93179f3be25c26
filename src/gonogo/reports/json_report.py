"""JSON that scripts rely on: the contract ``gonogo.check/1``. Fields are added within a version, never renamed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gonogo.check.result import CheckResult
from gonogo.problems import Problem

_SCHEMA = "gonogo.check/1"


@dataclass(frozen=True)
class JSONReport:
    """One JSON document in ASCII, keys in the order of the contract, one space deep a level.

    ASCII with escapes, since arguments may hold bytes that are no text and stdout may not be UTF-8. A number that JSON
    does not know (NaN, infinity) is null.
    """

    name: str = "json"

    def render(self, result: CheckResult) -> str:
        """The result as the contract has it."""
        from pydantic import TypeAdapter  # here, since it takes longer to import than a whole terminal report

        plain = TypeAdapter(CheckResult).dump_python(result, mode="json", by_alias=True, fallback=str)
        return _document(plain)


def render_problem(problem: Problem, schema: str = _SCHEMA) -> str:
    """What stands on stdout instead of a result: ``{"schema": ..., "error": {"message": ..., "exit_code": ...}}``.

    ``schema`` is that of the result that was asked for.
    """
    return _document({"schema": schema, "error": {"message": str(problem), "exit_code": problem.exit_code}})


def schema() -> dict[str, Any]:
    """The JSON Schema of what ``JSONReport.render`` and ``render_problem`` give."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class _AllThere(GenerateJsonSchema):
        """A field with a default is in the document all the same."""

        def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ARG002
            return True

    made = TypeAdapter(CheckResult).json_schema(by_alias=True, mode="serialization", schema_generator=_AllThere)
    definitions = made.pop("$defs", {})
    problem = {
        "type": "object",
        "title": "Problem",
        "properties": {
            "schema": {"const": _SCHEMA, "type": "string"},
            "error": {
                "type": "object",
                "properties": {"message": {"type": "string"}, "exit_code": {"type": "integer"}},
                "required": ["message", "exit_code"],
            },
        },
        "required": ["schema", "error"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": _SCHEMA,
        "anyOf": [{"$ref": "#/$defs/CheckResult"}, {"$ref": "#/$defs/Problem"}],
        "$defs": {**definitions, "CheckResult": made, "Problem": problem},
    }


def _document(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
