"""Launches are found in documents, scripts and code, where they stand and as they are written."""

from __future__ import annotations

import textwrap

import pytest

from gonogo.engines.types import engine_named
from upstream.calls import calls
from upstream.commands import Found, commands
from upstream.passages import passages
from upstream.shelltext import logical_lines

VLLM = engine_named("vllm")


def found_in(name: str, text: str) -> list[Found]:
    found: list[Found] = []
    for passage in passages(name, textwrap.dedent(text)):
        found += calls(VLLM, name, passage) if passage.kind == "python" else commands(VLLM, name, passage)
    return found


def told(name: str, text: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(one.line, one.launch.args) for one in found_in(name, text) if one.launch]


MARKDOWN = """\
Start it with `vllm serve m` or:

```bash
# vllm serve not-this
pip install vllm
vllm serve org/a \\
    --max-model-len 8192
```

1. In a list

   ```console
   $ VLLM_X=1 vllm serve org/b --json '{
     "x": 1
   }'
   (server) ready
   ```

> ~~~sh
> python -m vllm.entrypoints.openai.api_server --model org/c
> ~~~

```yaml
spec:
  command: ["/bin/sh", "-c"]
  args:
    - "vllm serve org/d --port 80"
```

```json
{"cmd": "vllm serve org/e"}
```
"""


def test_markdown() -> None:
    assert told("a.md", MARKDOWN) == [
        (6, ("serve", "org/a", "--max-model-len", "8192")),
        (13, ("serve", "org/b", "--json", '{\n  "x": 1\n}')),
        (20, ("--model", "org/c")),
        (27, ("serve", "org/d", "--port", "80")),
    ]
    assert [one.launch and one.launch.env for one in found_in("a.md", MARKDOWN)][1] == {"VLLM_X": "1"}


def test_a_script_with_its_variables() -> None:
    script = """\
    #!/bin/bash
    MODEL=org/a
    export PORT=80
    LEN=1
    if [ -n "$1" ]; then
        LEN=$1
    fi
    # Run: vllm serve org/comment
    vllm serve "$MODEL" --port $PORT --max-model-len $LEN > log 2>&1 &
    for i in 1 2; do
        CUDA_VISIBLE_DEVICES=$i vllm serve $MODEL --port $((80 + i)) &
    done
    cat <<EOF
    vllm serve not-this
    EOF
    """
    found = [one for one in found_in("a.sh", script) if one.launch]
    assert [(one.line, one.launch.args[1:]) for one in found if one.launch] == [
        (9, ("org/a", "--port", "80", "--max-model-len", "${LEN}")),
        (11, ("org/a", "--port", "$((80 + i))")),
        (8, ("org/comment",)),
    ]
    first = found[0].launch
    assert first is not None
    assert (first.unread, first.env) == (("${LEN}",), {"PORT": "80"})


def test_options_that_a_shell_would_not_take_for_part_of_it_are_shown_to_it() -> None:
    script = """\
    ```bash
    vllm serve m \\  # the model
      --tensor-parallel-size 2

    vllm serve m \\
      # a comment ends it
      --enforce-eager
    ```
    """
    found = found_in("a.md", script)
    assert [(one.line, one.launch and one.launch.args) for one in found] == [
        (2, ("serve", "m", " ")),
        (5, ("serve", "m")),
    ]


def test_comments_and_docstrings_of_code() -> None:
    code = '''\
    """Run the server first:

        vllm serve org/a %
            --port 80

    Then vllm serve answers, and vllm serve HTTP is tested.
    """
    # Or:
    #   export VLLM_X=1
    #   vllm serve org/b
    # vllm serve is a command
    '''
    assert sorted(told("a.py", code.replace("%", "\\"))) == [
        (3, ("serve", "org/a", "--port", "80")),
        (10, ("serve", "org/b")),
    ]


def test_yaml_values_and_the_markdown_in_them() -> None:
    recipe = """\
    description: "vllm serve is used"
    install:
      command: vllm serve org/a --port 80
    guide: |
      Start:

      ```bash
      vllm serve org/b
      ```
    """
    assert told("a.yaml", recipe) == [(8, ("serve", "org/b")), (3, ("serve", "org/a", "--port", "80"))]


def test_calls_with_what_their_names_stand_for() -> None:
    code = """\
    from vllm import LLM, EngineArgs
    MODEL = "org/a"
    SIZES = {"tensor_parallel_size": 2}

    def main(model):
        length = 8 * 1024
        llm = LLM(MODEL, max_model_len=length, **SIZES)
        for size in (1, 2):
            LLM(model=MODEL, tensor_parallel_size=size)
        options = dict(seed=1)
        options["seed"] = 2
        return EngineArgs(model=model, **options)
    """
    first, second, third = (one.launch for one in found_in("a.py", code))
    assert first is not None
    assert second is not None
    assert third is not None
    assert (first.positional, first.arguments) == (("org/a",), {"max_model_len": 8192, "tensor_parallel_size": 2})
    assert (second.arguments, second.unread) == ({"model": "org/a"}, ("tensor_parallel_size",))
    assert (third.target, third.unread) == ("EngineArgs", ("model", "**options"))


def test_code_that_adds_to_the_engine_is_another_engine() -> None:
    code = """\
    from vllm.plugins import register_thing

    @register_thing("mine")
    class Mine: ...

    LLM(model="m", quantization="mine")
    """
    (found,) = found_in("a.py", code)
    assert found.launch is not None
    assert found.launch.unread == ("what register_thing() has added",)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a \\\n  b\nc", [(1, "a \\\n  b"), (3, "c")]),
        ("a 'x\ny'\n\nb", [(1, "a 'x\ny'"), (4, "b")]),
        ("echo it's\nvllm serve m", [(1, "echo it's"), (2, "vllm serve m")]),
        ("cat <<'END'\nx\nEND\nb", [(1, "cat <<'END'"), (4, "b")]),
        ("$ a\noutput", [(1, "a"), (2, "output")]),
        ("# a\n\n  # b\nc", [(4, "c")]),
    ],
)
def test_logical_lines(text: str, lines: list[tuple[int, str]]) -> None:
    assert [(one.line, one.text) for one in logical_lines(text)] == lines


def test_only_what_holds_for_certain_is_above() -> None:
    text = "A=1\nexport B=2\nC=1\nif x; then\nC=2\nfi\nread -p x A\nB=3 run\nD=$(x)\nlast"
    assert list(logical_lines(text))[-1].above == ("D=$(x)",)
