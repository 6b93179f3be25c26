"""Ids: the same for the same error, another for another."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.source.ids import error_id, normalise_message, template_of
from gonogo.source.statements import sites_of
from gonogo.source.types import RaiseSite


def site(statement: str) -> RaiseSite:
    return sites_of(ast.parse(statement))[-1]


def test_an_id_is_16_hex_digits_that_never_change() -> None:
    # sha256 of "vllm\0ValueError\0no {} here", from coreutils' sha256sum.
    assert error_id("vllm", "ValueError", "no {} here") == "64abb2ceebca4b76"


def test_whitespace_and_module_do_not_count_but_engine_type_and_text_do() -> None:
    one = error_id("vllm", "ValueError", "no {} here")
    assert error_id("vllm", "builtins.ValueError", " no {}\n   here") == one
    assert error_id("vllm", "IOError", "x") == error_id("vllm", "OSError", "x")
    others = {
        error_id("sglang", "ValueError", "no {} here"),
        error_id("vllm", "TypeError", "no {} here"),
        error_id("vllm", "ValueError", "no {} there"),
    }
    assert len(others | {one}) == 4


def test_the_id_does_not_move_with_the_line() -> None:
    here = site('raise ValueError(f"got {x}, want {y}")')
    there = site('\n\n\ndef f():\n    msg = "got {}, want {}".format(a, b.c)\n    raise ValueError(msg)')
    assert here.template == there.template == "got {}, want {}"


@pytest.mark.parametrize(
    ("exception", "message", "statement", "expected"),
    [
        ("ValueError", "got 3", 'raise ValueError(f"got {x}")', "got {}"),
        ("AssertionError", "", "assert a.b == 3", "a.b == 3"),
        ("AssertionError", "4", "assert a.b == 3, a.b", "a.b == 3"),
        ("NotImplementedError", "", "raise NotImplementedError", ""),
        # Nothing literal in source: the message itself must tell errors apart.
        ("ValueError", "no room for 12 blocks", "raise ValueError(str(e))", "no room for {} blocks"),
        ("ValueError", "no room for 12 blocks", "raise", "no room for {} blocks"),
        ("ValueError", "b 7", 'raise ValueError("a" if x else f"b {x}")', "b {}"),
        ("EngineError", "bad top_p (parameter=3)", 'raise EngineError("bad top_p", parameter=3)', "bad top_p"),
        # The exception came out of making the other one.
        ("AttributeError", "no attribute 'x'", 'raise ValueError(f"got {a.x}")', "no attribute {}"),
        ("TypeError", "'<' not supported", "assert a < b", "{} not supported"),
        ("builtins.ValueError", "got 3", 'raise ValueError(f"got {x}")', "got {}"),
    ],
)
def test_template_of_an_error_at_its_site(exception: str, message: str, statement: str, expected: str) -> None:
    assert template_of(exception, message, site(statement)) == expected


# Messages as CPython 3.11 to 3.14 print them.
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "argument --kv-cache-dtype: invalid choice: 'fp7' (choose from 'auto', 'fp8')",
            "argument --kv-cache-dtype: invalid choice: {} (choose from {})",
        ),
        (
            "argument --kv-cache-dtype: invalid choice: '(' (choose from auto, fp8)",
            "argument --kv-cache-dtype: invalid choice: {} (choose from {})",
        ),
        (
            "argument --dtype: invalid choice: 'fp8 ', maybe you meant 'fp8'? (choose from auto, fp8)",
            "argument --dtype: invalid choice: {} (choose from {})",
        ),
        ("argument -tp/--tensor-parallel-size: expected one argument",) * 2,
        ("argument --port: invalid int value: 'x y'", "argument --port: invalid int value: {}"),
        ("argument --a: expected 2 arguments", "argument --a: expected {} arguments"),
        ("argument --no-x: ignored explicit argument 'true'", "argument --no-x: ignored explicit argument {}"),
        ("argument --a: not allowed with argument --b",) * 2,
        ("unrecognized arguments: --foo 3", "unrecognized arguments: {}"),
        (
            "ambiguous option: --max-num could match --max-num-seqs, --max-num-batched-tokens",
            "ambiguous option: {} could match {}",
        ),
        ("the following arguments are required: model, --x",) * 2,
        ("argument --rope: Value {'a': 1} cannot be 3", "argument --rope: Value {} cannot be {}"),
        (
            "argument {serve,bench}: invalid choice: 'x' (choose from 'serve', 'bench')",
            "argument {serve,bench}: invalid choice: {} (choose from {})",
        ),
    ],
)
def test_parser_errors(message: str, expected: str) -> None:
    assert template_of("ArgumentError", message, None) == expected
    assert template_of("argparse.ArgumentError", message, site("parser.error(message)")) == expected


def test_a_parser_error_in_the_engine_s_own_words() -> None:
    spoke = site('parser.error(f"Invalid item: {item}")')
    assert template_of("ArgumentError", "Invalid item: a b", spoke) == "Invalid item: {}"


# Messages of real runs (transformers, pydantic, huggingface_hub, json, torch).
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("invalid literal for int() with base 10: '1e9'", "invalid literal for int() with base {}: {}"),
        (
            "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            "Expecting property name enclosed in double quotes: line {} column {} (char {})",
        ),
        (
            "1 validation error for KVEventsConfig\npublisher\n  Input should be 'null' or 'zmq' [type=literal_error, "
            "input_value='nosuch', input_type=str]\n    For further information visit "
            "https://errors.pydantic.dev/2.12/v/literal_error",
            "{} validation error for KVEventsConfig publisher Input should be {} [type=literal_error, "
            "input_value={}, input_type={}] For further information visit {}",
        ),
        ("[Errno 2] No such file or directory: '/models/x y'", "[Errno {}] No such file or directory: {}"),
        ("Can't load the model's config for meta-llama/Llama-3.1-8B", "Can't load the model's config for {}"),
        ("bad list [1, 2, 'a'] and (3,) and {'a': [1, 2], 'b': None}", "bad list {} and {} and {}"),
        ("fp8_e5m2 on sm_90 with H100 needs 8.9, not -1.5e3", "fp8_e5m2 on sm_90 with H100 needs {}, not {}"),
        ("<object object at 0x7f0000aa> at 0xdeadbeef", "{} at {}"),
        ("see ./local/file.json or ~/x", "see {}"),
        ("", ""),
    ],
)
def test_a_message_without_its_values(message: str, expected: str) -> None:
    assert normalise_message(message) == expected


@given(st.text(st.sampled_from("ab 1'\"{}[](),:/.-=\n<>")))
def test_normalising_twice_changes_nothing(message: str) -> None:
    once = normalise_message(message)
    assert normalise_message(once) == once


@given(st.integers(), st.integers(), st.text(st.characters(categories=["L"]), min_size=1))
def test_values_do_not_count(a: int, b: int, word: str) -> None:
    form = "needs {} blocks of '{}' but has {}."
    assert normalise_message(form.format(a, word, b)) == normalise_message(form.format(b, "x", a))


@given(st.text())
def test_any_text_gets_an_id(message: str) -> None:
    assert re.fullmatch("[0-9a-f]{16}", error_id("vllm", "ValueError", template_of("ValueError", message, None)))
