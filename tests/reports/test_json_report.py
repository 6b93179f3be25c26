"""The contract ``gonogo.check/1``, key by key as docs and scripts have it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from pydantic import TypeAdapter

from gonogo.check.result import Because, CheckResult
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.reports import render_problem, report_named
from gonogo.reports.json_report import schema

from .samples import EVERYTHING, README, check, launch, refused, world

LAUNCH = ["source", "argv", "env", "engine", "verdict", "decided_by", "assumed", "not_checked", "worlds", "fixes"]
WORLD = [
    *("release", "release_from", "gpu", "count", "nodes", "model", "outcome", "reason", "stages", "error"),
    *("depends_on", "warnings", "resolved", "because"),
]


def rendered(result: CheckResult) -> Any:
    text = report_named("json").render(result)
    assert text.endswith("}\n")
    assert text.isascii()
    return json.loads(text)


def fits(value: Any, rule: dict[str, Any], definitions: dict[str, Any]) -> bool:
    """Whether a value fits a JSON Schema, as far as the words of ours go; any other word fails."""
    known = {"$ref", "anyOf", "type", "const", "enum", "properties", "required", "items", "additionalProperties"}
    assert not set(rule) - known - {"title", "description", "default"}, rule
    if "$ref" in rule:
        return fits(value, definitions[rule["$ref"].removeprefix("#/$defs/")], definitions)
    if "anyOf" in rule:
        return any(fits(value, each, definitions) for each in rule["anyOf"])
    kinds: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "null": type(None),
        "boolean": bool,
    }
    if "type" in rule and not isinstance(value, kinds[rule["type"]]):
        return False
    if ("const" in rule and value != rule["const"]) or ("enum" in rule and value not in rule["enum"]):
        return False
    if isinstance(value, dict):
        own = rule.get("properties", {})
        other = rule.get("additionalProperties", True)
        return all(name in value for name in rule.get("required", ())) and all(
            fits(each, own.get(name, other if isinstance(other, dict) else {}), definitions)
            for name, each in value.items()
        )
    return not isinstance(value, list) or all(fits(each, rule.get("items", {}), definitions) for each in value)


def fits_schema(value: Any) -> bool:
    whole = schema()
    return fits(value, {"anyOf": whole["anyOf"]}, whole["$defs"])


def test_keys_and_their_order() -> None:
    document = rendered(EVERYTHING)
    assert list(document) == ["schema", "verdict", "launches"]
    assert document["schema"] == "gonogo.check/1"
    first = document["launches"][0]
    assert [list(each) for each in document["launches"]] == [LAUNCH] * 3
    assert list(first["source"]) == ["path", "line"]
    assert [list(each) for each in first["worlds"]] == [WORLD]
    error = first["worlds"][0]["error"]
    assert list(error) == ["id", "type", "wrapped_by", "message", "site"]
    assert list(error["site"]) == ["path", "line", "function"]
    assert [list(each) for each in first["worlds"][0]["because"]] == [["kind", "name", "value", "from"]] * 2
    assert list(first["fixes"][0]) == ["argv", "env", "changes", "verdict"]


def test_values() -> None:
    document = rendered(README)
    assert document["verdict"] == "NO-GO"
    (shown,) = document["launches"]
    assert shown["source"] == {"path": None, "line": None}
    assert shown["argv"] == ["vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct"]
    (one,) = shown["worlds"]
    assert (one["release"], one["release_from"], one["gpu"], one["count"], one["nodes"]) == (
        *("0.33.0", "newest", "H100-80GB", 8, 1),
    )
    assert one["stages"] == {"arguments": "passed", "configuration": "refused"}
    assert one["error"]["wrapped_by"] == ["ValidationError"]
    assert one["error"]["site"]["line"] == 2023
    assert rendered(EVERYTHING)["launches"][0]["worlds"][0]["because"][1] == {
        "kind": "flag",
        "name": "speculative_config.method",
        "value": "eagle",
        "from": "resolved",
    }


@pytest.mark.parametrize("result", [README, EVERYTHING, check("GO"), check("HOLD", launch("HOLD"))])
def test_every_result_fits_the_schema_and_comes_back_the_same(result: CheckResult) -> None:
    document = rendered(result)
    assert fits_schema(document)
    assert TypeAdapter(CheckResult).validate_python(document) == result


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "MAYBE"),
        (("schema",), "gonogo.check/2"),
        (("launches", 0, "worlds", 0, "count"), "8"),
        (("launches", 0, "worlds", 0, "outcome"), None),
        (("launches", 0, "worlds", 0, "because", 0, "from"), "nobody"),
        (("launches", 0, "worlds", 0, "error", "site"), {}),
    ],
)
def test_the_schema_refuses_what_breaks_the_contract(path: tuple[Any, ...], value: Any) -> None:
    document = rendered(EVERYTHING)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not fits_schema(document)
    del place[path[-1]]
    assert not fits_schema(document)


@pytest.mark.parametrize(("problem", "code"), [(UsageProblem("no such gpu: x"), 2), (OwnProblem("disk full"), 4)])
def test_problems_are_json_too(problem: UsageProblem | OwnProblem, code: int) -> None:
    document = json.loads(render_problem(problem))
    assert document == {"schema": "gonogo.check/1", "error": {"message": str(problem), "exit_code": code}}
    assert fits_schema(document)


def test_odd_values_are_still_json() -> None:
    odd = refused(
        because=(
            Because("flag", "--a", float("nan"), "user"),
            Because("flag", "--b", {"deep": [float("inf"), None]}, "user"),
            Because("model", "c", complex(1, 2), "resolved"),
        ),
        warnings=("\x1b[31m \udcff \u202e \0",),
    )
    document = rendered(check("NO-GO", launch("NO-GO", odd, argv=("vllm", "\udcff" * 3, "x" * 1_000_000))))
    (one,) = document["launches"][0]["worlds"]
    assert [each["value"] for each in one["because"]] == [None, {"deep": [None, None]}, "1+2j"]
    assert one["warnings"] == ["\x1b[31m \udcff \u202e \0"]
    assert len(document["launches"][0]["argv"][2]) == 1_000_000


def test_a_terminal_report_does_not_wait_for_pydantic() -> None:
    code = "import sys, gonogo.reports as r; r.report_named('text'); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_worlds_keep_their_order() -> None:
    worlds = [world(gpu=name) for name in ("L4", "A100-80GB", "B200")]
    document = rendered(check("GO", launch("GO", *worlds)))
    assert [each["gpu"] for each in document["launches"][0]["worlds"]] == ["L4", "A100-80GB", "B200"]
