from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.launches import read_command, read_line
from gonogo.problems import UsageProblem


@pytest.mark.parametrize(
    ("text", "engine", "target", "arguments"),
    [
        (
            'LLM(model="m", tensor_parallel_size=4, speculative_config={"model": "d", "num_speculative_tokens": 1})',
            "vllm",
            "LLM",
            {
                "model": "m",
                "tensor_parallel_size": 4,
                "speculative_config": {"model": "d", "num_speculative_tokens": 1},
            },
        ),
        ("llm = LLM(model='m')", "vllm", "LLM", {"model": "m"}),
        ("self.llm: LLM = vllm.LLM(model='m')", "vllm", "LLM", {"model": "m"}),
        ("from vllm import LLM\nllm = LLM(model='m')\n", "vllm", "LLM", {"model": "m"}),
        ("import vllm; vllm.LLM(model='m').generate('x')", "vllm", "LLM", {"model": "m"}),
        ("EngineArgs(model='m', enforce_eager=True)", "vllm", "EngineArgs", {"model": "m", "enforce_eager": True}),
        ("vllm.engine.arg_utils.AsyncEngineArgs(model='m')", "vllm", "AsyncEngineArgs", {"model": "m"}),
        ("AsyncLLMEngine.from_engine_args(AsyncEngineArgs(model='m'))", "vllm", "AsyncEngineArgs", {"model": "m"}),
        ("sgl.Engine(model_path='m', tp_size=2)", "sglang", "Engine", {"model_path": "m", "tp_size": 2}),
        ("sglang.Engine(model_path='m')", "sglang", "Engine", {"model_path": "m"}),
        ("ServerArgs(model_path='m')", "sglang", "ServerArgs", {"model_path": "m"}),
        ("    LLM(\n        model='m',\n    )  # why", "vllm", "LLM", {"model": "m"}),
    ],
)
def test_call(text: str, engine: str, target: str, arguments: dict[str, Any]) -> None:
    for launch in (read_line(text), read_command([text])):
        assert (launch.engine, launch.entry, launch.target) == (engine, "call", target)
        assert (launch.arguments, launch.positional, launch.unread) == (arguments, (), ())
        assert launch.argv == (text,)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("-1", -1),
        ("+0.5", 0.5),
        ("4 * 1024", 4096),
        ("1 << 20", 1 << 20),
        ("2**10 - 1", 1023),
        ("8192 // 3 % 7", 8192 // 3 % 7),
        ("not True", False),
        ("None", None),
        ("'a' 'b' + f'c'", "abc"),
        ("f'plain'", "plain"),
        ("(1, [2, (3,)])", [1, [2, [3]]]),
        ("dict(a=1, b={'c': None})", {"a": 1, "b": {"c": None}}),
        ("{'a': 1, **{'b': 2}}", {"a": 1, "b": 2}),
        ("1e30", 1e30),
    ],
)
def test_literal(value: str, read: Any) -> None:
    launch = read_line(f"LLM(model='m', x={value})")
    assert launch.arguments["x"] == read
    assert type(launch.arguments["x"]) is type(read)


@pytest.mark.parametrize(
    "value",
    [
        "torch.float16", "name", "f'{name}'", "os.environ['X']", "[1, x]", "{1: 2}", "{'a', 'b'}", "b'a'", "1j",
        "...", "9**9**9", "1 << 10**9", "'a' * 10**9", "1e999", "10**30", "1 / 0", "1 if x else 2", "lambda: 1",
        "{**x}", "-'a'", "dict([('a', 1)])", "not x", "1 + True", "(-8) ** 0.5", "1" + " + 1" * 400,
    ],
)  # fmt: skip
def test_no_literal(value: str) -> None:
    launch = read_line(f"LLM(model='m', x={value})")
    assert (launch.arguments, launch.unread) == ({"model": "m"}, ("x",)) or launch.arguments["x"] == 401
    assert not launch.unread or launch.notes[0].startswith(
        "x is not a literal, so its value is not known: " + value[:40]
    )


def test_positional_and_starred_arguments() -> None:
    launch = read_line("LLM('m', tok, *rest, **{'seed': 1}, **more)")
    assert launch.positional == ("m", None, None)
    assert launch.arguments == {"seed": 1}
    assert launch.unread == ("argument 2", "argument 3", "**more")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("LLM(model='m'", "cannot read the Python expression at line 1, column 4: '(' was never closed"),
        ("LLM(model=“m”)", "cannot read the Python expression at line 1"),
        ("LLM(model='m', model='n')", "gives model twice"),
        ("LLM(model='m', **{'model': 'n'})", "gives model twice"),
        ("print('LLM')", "cannot tell which engine `print('LLM')` starts"),
        ("tensorrt_llm.LLM(model='m')", "cannot tell which engine"),
        ("sglang.LLM(model='m')", "cannot tell which engine"),
        ("f()(LLM)", "cannot tell which engine"),
        ("[LLM(model='m'), LLM(model='n')]", "cannot read '(' at column 5"),
        ("both(LLM(model='m'), LLM(model='n'))", "builds more than one engine (LLM, LLM)"),
        ("LLM(" + "(" * 500 + ")" * 500 + ")", "cannot read the Python expression"),
        ("LLM(x=" + "-" * 200_000 + "1)", "cannot read the Python expression"),
    ],
)
def test_refused(text: str, says: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_command([text])
    assert says in str(caught.value)


def test_variables_before_an_expression() -> None:
    launch = read_command(["VLLM_USE_V1=0", "LLM(model='m')"])
    assert (launch.env, launch.arguments) == ({"VLLM_USE_V1": "0"}, {"model": "m"})


def test_python_c() -> None:
    launch = read_line("""A=1 python -c "from vllm import LLM; LLM(model='m')" """)
    assert (launch.env, launch.target, launch.arguments) == ({"A": "1"}, "LLM", {"model": "m"})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.from_regex(r"x[a-z_]{0,8}", fullmatch=True), json_values, max_size=5))
def test_what_repr_writes_is_read_back(arguments: dict[str, Any]) -> None:
    launch = read_line(f"LLM({', '.join(f'{name}={value!r}' for name, value in arguments.items())})")
    assert launch.arguments == arguments
    assert json.loads(json.dumps(launch.arguments, allow_nan=False)) == arguments
