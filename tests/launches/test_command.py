from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonogo.launches import Launch, read_command, read_line, shell_text
from gonogo.problems import UsageProblem

SERVER = "vllm.entrypoints.openai.api_server"
CASES = Path(__file__).parents[3] / "shared" / "cases"

# Command lines of the kinds that people run: (line, engine, entry, target, args).
STARTS = [
    ("vllm serve Qwen/Qwen3-8B", "vllm", "command", "vllm", ["serve", "Qwen/Qwen3-8B"]),
    ("/usr/local/bin/vllm serve m --tp 2", "vllm", "command", "vllm", ["serve", "m", "--tp", "2"]),
    (r"C:\venv\Scripts\vllm.exe".replace("\\", "\\\\") + " serve m", "vllm", "command", "vllm", ["serve", "m"]),
    ("sglang serve --model-path m", "sglang", "command", "sglang", ["serve", "--model-path", "m"]),
    (f"python -m {SERVER} --model m", "vllm", "module", SERVER, ["--model", "m"]),
    (f".venv/bin/python -m {SERVER} --model m", "vllm", "module", SERVER, ["--model", "m"]),
    (f"python3 -u -m {SERVER} --model m", "vllm", "module", SERVER, ["--model", "m"]),
    (f"python3.11 -X dev -W ignore -um {SERVER}", "vllm", "module", SERVER, []),
    (f"python -m{SERVER} --model m", "vllm", "module", SERVER, ["--model", "m"]),
    ("python3 -m sglang.launch_server --model m --tp 4", "sglang", "module", "sglang.launch_server", None),
    ("python /opt/sglang/python/sglang/launch_server.py --tp 4", "sglang", "module", "sglang.launch_server", None),
    ("python -m vllm.entrypoints.cli.main serve m", "vllm", "command", "vllm", ["serve", "m"]),
    ("python3 /usr/local/bin/vllm serve m", "vllm", "command", "vllm", ["serve", "m"]),
    ("vllm serve", "vllm", "command", "vllm", ["serve"]),
    ("vllm serve --help", "vllm", "command", "vllm", ["serve", "--help"]),
    # wrong launches that start something all the same: the engine answers
    (f"python3 -m {SERVER} serve m '--dtype auto'", "vllm", "module", SERVER, ["serve", "m", "--dtype auto"]),
    ('vllm serve m "--host 127.0.0.1"', "vllm", "command", "vllm", ["serve", "m", "--host 127.0.0.1"]),
    (r"""vllm serve m --x '{\"image\":1}'""", "vllm", "command", "vllm", ["serve", "m", "--x", r"{\"image\":1}"]),
    ("vllm serve “m” --x ‘y’", "vllm", "command", "vllm", ["serve", "“m”", "--x", "‘y’"]),
    ("vllm serve m -cc.use_inductor=false", "vllm", "command", "vllm", ["serve", "m", "-cc.use_inductor=false"]),
    ("vllm serve m \\\n  --x 1 \\\n  --y 2  # why", "vllm", "command", "vllm", ["serve", "m", "--x", "1", "--y", "2"]),
]


@pytest.mark.parametrize(("line", "engine", "entry", "target", "args"), STARTS)
def test_launch(line: str, engine: str, entry: str, target: str, args: list[str] | None) -> None:
    launch = read_line(line)
    assert (launch.engine, launch.entry, launch.target) == (engine, entry, target)
    if args is not None:
        assert list(launch.args) == args
    assert not launch.unread
    assert not launch.notes


def test_argv_is_as_given_without_the_variables_in_front() -> None:
    launch = read_command(["VLLM_USE_V1=0", "CUDA_VISIBLE_DEVICES=0,1", "nohup", "vllm", "serve", "m"])
    assert launch.argv == ("nohup", "vllm", "serve", "m")
    assert launch.env == {"VLLM_USE_V1": "0", "CUDA_VISIBLE_DEVICES": "0,1"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("foo bar", "cannot tell which engine `foo bar` starts: expected vllm serve, python -m vllm.entrypoints"),
        ("foo bar", "sglang serve, python -m sglang.launch_server, docker run ... IMAGE, or LLM(...) or Engine(...)"),
        ("", "the command is empty"),
        (" \n ", "the command is empty"),
        ("A=b", "only sets variables"),
        ("vllm", "`vllm` starts no server: gonogo checks `vllm serve ...`"),
        ("vllm --help", "`vllm --help` starts no server"),
        ("vllm bench serve --model m", "`vllm bench` starts no server"),
        ("sglang generate --model-path m", "`sglang generate` starts no server"),
        ("python -m vllm serve m", "cannot tell which engine `python -m vllm serve m` starts"),
        ("python -m vllm.entrypoints.cli.main bench", "`vllm bench` starts no server"),
        ("python", "cannot tell which engine `python` starts"),
        ("python -m", "cannot tell which engine `python -m` starts"),
        ("python serve.py --model m", "cannot tell which engine `python serve.py --model m` starts"),
        ("torchrun --nproc-per-node 2 serve.py", "`torchrun` starts several processes"),
        ("bash start.sh", "a script is not read"),
        ("bash", "only starts a shell"),
        ("sudo", "cannot tell which engine `sudo` starts"),
        ("vllm serve 'abc", "the quote ' opened at column 12 is never closed"),
        ('vllm serve m\\\n --x "abc\n', 'the quote " opened at line 2, column 6 is never closed'),
        ("vllm serve `abc", "the quote ` opened at column 12 is never closed"),
        ("vllm serve ${abc", "the bracket { opened at column 13 is never closed"),
        ("(vllm serve m)", "cannot read '(' at column 1"),
        ("pip install vllm && vllm serve m", "cannot read `pip install vllm`"),
        ("for i in 1; do vllm serve m; done", "cannot read `for i in 1`"),
        ("yes | vllm serve m", "cannot tell which engine `yes` starts"),
        ("vllm serve m <<EOF", "cannot read the here-document at column 14"),
        ("vllm serve m >", "nothing stands behind '>' at column 14"),
        ("vllm serve m \\ \n  --x 1", "the command ends before `--x 1`: take out the blank"),
        ("vllm serve m \\ # why\n  --x 1", "the command ends before `--x 1`: take out the blank"),
    ],
)
def test_refused(line: str, says: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_line(line)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("words", [[], [""], ["", " "]])
def test_empty_words(words: list[str]) -> None:
    with pytest.raises(UsageProblem, match="the command is empty"):
        read_command(words)


@pytest.mark.parametrize("words", [["vllm", "serve", "a\0b"], ["LLM('\0')"], ["\0"]])
def test_nul_bytes(words: list[str]) -> None:
    with pytest.raises(UsageProblem, match="NUL byte"):
        read_command(words)
    with pytest.raises(UsageProblem, match="NUL byte"):
        read_line(" ".join(words))


def test_a_megabyte_in_one_argument() -> None:
    long = "x'\"\\ ${A}" * 120_000
    launch = read_command(["vllm", "serve", long])
    assert launch.args == ("serve", long)
    assert read_line(shlex.join(["vllm", "serve", long])) == launch
    with pytest.raises(UsageProblem) as caught:
        read_command(["foo", long])
    assert len(str(caught.value)) < 1000
    with pytest.raises(UsageProblem, match="starts no server"):
        read_command(["vllm", long])


def test_a_long_row_of_wrappers_ends() -> None:
    with pytest.raises(UsageProblem, match="wrapped in too many programs"):
        read_command(["env"] * 100_000 + ["vllm", "serve", "m"])


def test_one_word_may_be_a_whole_line() -> None:
    assert read_command(["A=1 vllm serve m 2>&1 | tee log"]) == read_line("A=1 vllm serve m")


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=300)
@given(st.lists(words, max_size=8), st.lists(st.text("abc'\"$ \\#~{,}=", max_size=8), max_size=4))
def test_a_quoted_line_is_its_words(first: list[str], second: list[str]) -> None:
    for start in (
        ["vllm", "serve"],
        ["A=b c", "python", "-m", "sglang.launch_server"],
        ["docker", "run", "vllm/vllm-openai"],
    ):
        command = [*start, *first, *second]
        launch = read_command(command)
        assert read_line(shlex.join(command)) == launch
        assert launch.args[-len(first + second) :] == tuple(first + second) or not first + second


@settings(max_examples=300)
@given(st.lists(words, max_size=5), st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True), words))
def test_shell_text_comes_back_as_the_same_launch(args: list[str], env: dict[str, str]) -> None:
    launch = read_command([*(f"{name}={value}" for name, value in env.items()), "vllm", "serve", *args])
    text = shell_text(launch)
    assert "\n" not in text
    assert read_line(text) == launch


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_any_line_is_a_launch_or_a_usage_problem(text: str) -> None:
    for line in (text, "vllm serve " + text, "docker run " + text, "LLM(" + text, "sudo " + text):
        with suppress(UsageProblem):
            assert read_line(line).engine in ("vllm", "sglang")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("vllm serve m", "vllm serve m"),
        ("export A='b c' && vllm serve m >log 2>&1 &", "A='b c' vllm serve m"),
        ("sudo A=1 vllm serve m", "sudo A=1 vllm serve m"),
        ('LLM(model="m")', "'LLM(model=\"m\")'"),
        ("LLM(model='m')", "\"LLM(model='m')\""),
        ("vllm serve $M --x $(nproc)", 'vllm serve "${M}" --x "$(nproc)"'),
        ("docker run -e T=$T vllm/vllm-openai m", 'docker run -e "T=${T}" vllm/vllm-openai m'),
        ("vllm serve $'a\\nb'", r"vllm serve $'a\x0ab'"),
    ],
)
def test_shell_text(line: str, text: str) -> None:
    assert shell_text(read_line(line)) == text


def test_shell_text_hands_new_variables_to_the_container() -> None:
    launch = read_line("docker run --rm -e A=1 vllm/vllm-openai:v0.33.0 m")
    changed = Launch(**{**vars(launch), "env": {"A": "1", "B": "2 3"}})
    assert shell_text(changed) == "docker run -e 'B=2 3' --rm -e A=1 vllm/vllm-openai:v0.33.0 m"
    assert read_line(shell_text(changed)).env == {"A": "1", "B": "2 3"}


@pytest.mark.skipif(not CASES.is_dir(), reason="the public cases are not here")
def test_real_commands() -> None:
    for line in (CASES / "launch.jsonl").read_text().splitlines():
        case = json.loads(line)
        launch = read_line(case["command"])
        assert (launch.engine, launch.unread) == (case["engine"], ()), case["id"]
        if launch.entry != "call":
            assert shlex.split(case["command"])[-len(launch.args) :] == list(launch.args)
        assert read_line(shell_text(launch)) == launch
        json.dumps([launch.arguments, launch.positional], allow_nan=False)


@pytest.mark.skipif(not CASES.is_dir(), reason="the public cases are not here")
def test_real_argument_lists() -> None:
    """Launches out of compose files, manifests, units and scripts, with the program put back in front."""
    for line in (CASES / "files.jsonl").read_text().splitlines():
        for found in json.loads(line)["launches"]:
            start = found["program"].split()
            if start[0] == "image":
                start = ["docker", "run", found["image"]]
            elif (
                start[0] not in ("vllm", "python") or "--config" in start or start[-1] == "vllm.entrypoints.api_server"
            ):
                continue
            launch = read_command([*start, *found["argv"]])
            assert launch.engine == found["engine"]
            assert list(launch.args)[-len(found["argv"]) :] == found["argv"]
            if start[0] == "docker" and found["release"]:
                assert launch.release == f"{found['engine']}=={found['release']}"
