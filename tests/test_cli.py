"""The command line itself: words, options, help, formats, exit codes."""

from __future__ import annotations

import argparse
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gonogo import __version__
from gonogo.cli import _parser, main
from tests.tiny_engine import Place

COMMANDS = [["check"], ["releases"], ["releases", "list"], ["releases", "fetch"], ["releases", "remove"], ["gpus"]]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


# -- help, version, and what they cost


@pytest.mark.parametrize("command", [[], *COMMANDS])
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    code, out, err = run(capsys, *command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: {' '.join(['gonogo', *command])}")


def test_every_option_has_a_help_text() -> None:
    waiting: list[argparse.ArgumentParser] = [_parser()]
    seen = 0
    while waiting:
        for action in waiting.pop()._actions:
            if isinstance(action, argparse._SubParsersAction):
                assert {choice.dest for choice in action._choices_actions if choice.help} == set(action.choices)
                waiting += action.choices.values()
            else:
                assert action.help, action
                seen += 1
    assert seen > 30


def test_the_help_of_check_names_each_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", "--help")
    assert "0 GO, 1 NO-GO, 2 usage, 3 HOLD (0 with --hold pass)" in out
    assert "4 gonogo's own failure" in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"gonogo {__version__}\n", "")


@pytest.mark.parametrize("statement", ["import gonogo", "import gonogo.cli; gonogo.cli.main(['--help'])"])
def test_help_and_import_load_nothing_heavy(statement: str) -> None:
    code = f"import sys; {statement}; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert "gonogo" in loaded
    ours = {name for name in loaded if name.partition(".")[0] == "gonogo"}
    assert ours <= {"gonogo", "gonogo.cli", "gonogo.exits", "gonogo.problems"}
    slow = {
        "asyncio",
        "email",
        "http",
        "importlib.metadata",
        "multiprocessing",
        "socket",
        "ssl",
        "subprocess",
        "tomllib",
    }
    assert not slow & set(loaded)
    heavy = {"pydantic", "requests", "huggingface_hub", "filelock", "packaging", "platformdirs", "pypi_simple", "uv"}
    assert not heavy & set(loaded)


def test_no_words_show_the_help_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert (code, out) == (2, "")
    assert err.startswith("usage: gonogo")
    assert "check a launch before launch" in err


# -- what is wrong with the words: one line, exit code 2

WRONG = [
    (["chekc"], "unknown command 'chekc': is it check? (see gonogo --help)"),
    (["zzz"], "unknown command 'zzz': there are check, releases, gpus (see gonogo --help)"),
    (
        ["vllm", "serve", "x"],
        "a launch stands behind check and --, as in gonogo check --gpu H100:8 -- vllm serve MODEL",
    ),
    (["--json"], "no command given: write one of check, releases, gpus behind gonogo"),
    (["--", "vllm", "serve", "x"], "no command given: write one of check, releases, gpus behind gonogo, as in gonogo"),
    (["check"], "no launch given: write it behind --, as in gonogo check --gpu H100:8 -- vllm serve MODEL"),
    (["check", "--"], "no launch given: write it behind --"),
    (["check", "--gpu", "H100:8", "vllm", "serve", "x"], "a launch stands behind --, as in gonogo check"),
    (["check", "vllm", "serve", "x", "--tensor-parallel-size", "8"], "a launch stands behind --, as in gonogo check"),
    (["check", "python3", "-m", "sglang.launch_server"], "a launch stands behind --, as in gonogo check"),
    (["check", "deploy/"], "'deploy/': launches in files are not read yet; give one behind --, as in gonogo check"),
    (["check", "deploy/", "--", "vllm", "serve", "x"], "'deploy/': launches in files are not read yet"),
    (["check", "--gpus", "H100", "--", "vllm"], "unexpected argument '--gpus': is it --gpu? (see gonogo check --help)"),
    (["check", "--zzz=1", "--", "vllm"], "unexpected argument '--zzz=1' (see gonogo check --help)"),
    (["check", "--offlin", "--", "vllm"], "unexpected argument '--offlin': is it --offline? (see gonogo check --help)"),
    (["check", "--gpu", "--", "vllm"], "argument --gpu: expected one argument (see gonogo check --help)"),
    (["check", "--hold", "maybe", "--", "vllm"], "argument --hold: invalid choice: 'maybe'"),
    (["check", "--format", "yaml", "--", "vllm"], "argument --format: invalid choice: 'yaml'"),
    (["check", "--env", "NAME", "--", "vllm", "serve", "x"], "--env 'NAME' is not NAME=VALUE"),
    (["check", "--env", "=1", "--", "vllm", "serve", "x"], "--env '=1' is not NAME=VALUE"),
    (["check", "--model-facts", "x", "--", "vllm", "serve", "x"], "--model-facts"),
    (["check", "--model-facts", "=", "--", "vllm", "serve", "x"], "--model-facts"),
    (["check", "--models-dir", "/no/such", "--", "vllm", "serve", "x"], "--models-dir /no/such: no such folder"),
    (["check", "--gpu", "H1000", "--", "vllm", "serve", "x"], "unknown GPU 'H1000'"),
    (["check", "--gpu", "8xH100", "--", "vllm", "serve", "x"], "write H100:8 for 8 GPUs in one node"),
    (["check", "--gpu", "H100:0", "--", "vllm", "serve", "x"], "'H100:0' asks for 0"),
    (["check", "--gpu", "H100:-1", "--", "vllm", "serve", "x"], "is no number of GPUs"),
    (["check", "--gpu", "H100:99999999999", "--", "vllm", "serve", "x"], "is more than 1024 GPUs"),
    (["check", "--gpu", "", "--", "vllm", "serve", "x"], "no GPU is named"),
    (["check", "--gpu", "H100:8\n", "--gpu", "\x00", "--", "vllm", "serve", "x"], "gpu"),
    (["check", "--release", "vlm==1", "--gpu", "cpu", "--", "vllm", "serve", "x"], "unknown engine 'vlm'"),
    (["check", "--release", "vllm==abc", "--gpu", "cpu", "--", "vllm", "serve", "x"], "'abc' is no version"),
    (["check", "--release", "1.0", "--gpu", "cpu", "--", "vllm", "serve", "x"], "gonogo knows vllm and sglang"),
    (["check", "--release", "sglang==1", "--gpu", "cpu", "--", "vllm", "serve", "x"], "does not fit the launch"),
    (["check", "--", "foo", "serve"], "cannot tell which engine `foo serve` starts"),
    (["check", "--", "vllm"], "`vllm` starts no server"),
    (["check", "--", "vllm", "bench"], "`vllm bench` starts no server"),
    (["check", "--", ""], "the command is empty"),
    (["check", "--", "  "], "the command is empty"),
    (["check", "--", "A=1"], "the command only sets variables"),
    (["check", "--", "vllm serve 'x"], "quote"),
    (["check", "--", "LLM('x'"], "'(' was never closed"),
    (["releases", "lst"], "argument ACTION: invalid choice: 'lst'"),
    (["releases", "fetch"], "the following arguments are required: ENGINE==VERSION"),
    (["releases", "fetch", "foo==1"], "unknown engine 'foo': gonogo knows vllm and sglang"),
    (["releases", "remove", "vllm"], "say which release of vllm to remove: vllm==VERSION"),
    (["releases", "list", "foo"], "unknown engine 'foo'"),
    (["gpus", "H1000"], "unknown GPU 'H1000'"),
    (["gpus", "--", "vllm", "serve", "x"], "gonogo gpus takes no launch"),
    (["gpus", "--form", "json"], "unexpected argument '--form': is it --format? (see gonogo gpus --help)"),
]


@pytest.mark.parametrize(("words", "expected"), WRONG, ids=[" ".join(words)[:50] for words, _ in WRONG])
def test_wrong_words_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], expected: str
) -> None:
    monkeypatch.setenv("GONOGO_CACHE", str(tmp_path))
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple/")  # nobody is there: none of these needs one
    code, out, err = run(capsys, *words)
    assert code == 2, err
    assert err.startswith("gonogo: ")
    assert err.count("\n") == 1
    assert expected.lower() in err.lower()
    if "--json" not in words:
        assert out == ""


@pytest.mark.parametrize("form", [["--json"], ["--format", "json"], ["--format=json"]])
@pytest.mark.parametrize(
    ("command", "behind", "schema"),
    [
        (["check"], ["--", "foo"], "gonogo.check/1"),
        (["check", "--zzz"], [], "gonogo.check/1"),
        (["gpus", "H1000"], [], "gonogo.gpus/1"),
        (["releases", "fetch", "foo==1"], [], "gonogo.releases/1"),
    ],
)
def test_errors_are_json_too(
    capsys: pytest.CaptureFixture[str], form: list[str], command: list[str], behind: list[str], schema: str
) -> None:
    code, out, err = run(capsys, *command, *form, *behind)
    told = json.loads(out)
    assert code == 2
    assert told == {"schema": schema, "error": {"message": err.removeprefix("gonogo: ").rstrip("\n"), "exit_code": 2}}


def test_a_json_in_the_launch_asks_for_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--", "foo", "--json")
    assert (code, out) == (2, "")


def test_secrets_do_not_stand_in_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, "check", "--json", "--", "foo", "--api-key", "sk-1234567890", "HF_TOKEN=hf_1234567890")
    assert "cannot tell which engine `foo --api-key *** ***` starts" in err
    assert "1234567890" not in out + err


# -- lists


def test_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "gpus")
    assert (code, err) == (0, "")
    names = [line.split()[0] for line in out.splitlines()]
    assert {"H100-80GB", "L4", "MI300X", "cpu"} <= set(names)
    assert len(set(names)) == len(names)


def test_a_gpu_that_is_named_shows_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "gpus", "l4", "--json")
    (gpu,) = json.loads(out)["gpus"]
    assert gpu["name"] == "L4"
    assert gpu["sources"]
    _, text, _ = run(capsys, "gpus", "l4")
    for fact, source in gpu["sources"].items():
        assert f"    {fact}: {source}\n" in text


def test_releases_in_an_empty_cache(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GONOGO_CACHE", str(tmp_path / "none"))
    for words in (["releases"], ["releases", "list"]):
        code, out, err = run(capsys, *words)
        assert (code, err) == (0, "")
        assert out == "no release in the cache: fetch one with gonogo releases fetch ENGINE==VERSION\n"
        assert json.loads(run(capsys, *words, "--json")[1]) == {"schema": "gonogo.releases/1", "cached": []}
    assert not (tmp_path / "none").exists()


def test_releases_are_fetched_listed_and_removed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bare_place: Place
) -> None:
    for name, value in bare_place.environment().items():
        monkeypatch.setenv(name, value)
    assert run(capsys, "releases", "fetch", "vllm==0.32.0", "vllm") == (
        0,
        "fetched vllm 0.32.0\nfetched vllm 0.33.0\n",
        "",
    )
    code, out, _ = run(capsys, "releases")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["vllm", "0.33.0", "2026-02-05"],
        ["vllm", "0.32.0", "2026-01-05"],
    ]
    told = json.loads(run(capsys, "releases", "--json")[1])
    assert [row["version"] for row in told["cached"]] == ["0.33.0", "0.32.0"]
    assert all(row["bytes"] > row["own_bytes"] > 0 for row in told["cached"])
    told = json.loads(run(capsys, "releases", "list", "vllm", "--json")[1])
    assert [row["version"] for row in told["known"]] == ["0.33.0", "0.32.0"]
    told = json.loads(run(capsys, "releases", "remove", "vllm==0.32.0", "--json")[1])
    assert told == {"schema": "gonogo.releases/1", "removed": [{"engine": "vllm", "version": "0.32.0"}]}
    code, _, err = run(capsys, "releases", "remove", "vllm==0.32.0")
    assert (code, err) == (2, "gonogo: vllm 0.32.0 is not in the cache, which holds vllm 0.33.0\n")


# -- a check, of the tiny engine


def test_exit_codes_of_verdicts(place: Place) -> None:
    assert place.check("vllm", "serve", "x").code == 0
    assert place.check("vllm", "serve", "x", "--refuse", "no").code == 1
    hold = ("bash", "-c", "vllm serve $MODEL")
    assert place.check(*hold).code == 3
    assert place.check(*hold, options=("--hold", "fail")).code == 3
    passed = place.check(*hold, options=("--hold", "pass"))
    assert (passed.code, passed.out.split()[0]) == (0, "HOLD")
    assert place.check("vllm", "serve", "x", "--refuse", "no", options=("--hold", "pass")).code == 1


def test_a_refusal_on_a_page_and_as_json(place: Place) -> None:
    done = place.check("vllm", "serve", "x", "--refuse", "no way")
    assert done.err == ""
    assert done.out.splitlines()[:2] == ["NO-GO  vllm 0.32.0 on cpu", "  ValueError: no way"]
    told = json.loads(place.check("vllm", "serve", "x", "--refuse", "no way", options=("--json",)).out)
    (launch,) = told["launches"]
    (world,) = launch["worlds"]
    assert (told["schema"], told["verdict"], launch["verdict"]) == ("gonogo.check/1", "NO-GO", "NO-GO")
    assert launch["argv"] == ["vllm", "serve", "x", "--refuse", "no way"]
    assert (world["outcome"], world["error"]["type"], world["error"]["message"]) == ("refused", "ValueError", "no way")


def test_secrets_reach_neither_the_engine_nor_a_report(place: Place) -> None:
    words = ("vllm", "serve", "x", "--tell", "HF_TOKEN", "--api-key", "sk-12345678")
    options = ("--json", "--env", "HF_TOKEN=hf_12345678", "--env", "PLAIN=visible")
    done = place.check(*words, options=options)
    told = json.loads(done.out)
    assert told["launches"][0]["worlds"][0]["error"]["message"] == "'***'['***']"  # what the engine itself sees
    assert told["launches"][0]["env"] == {"HF_TOKEN": "***", "PLAIN": "visible"}
    assert "12345678" not in done.out + done.err
    held = [path for path in place.folder.rglob("*") if path.is_file() and b"12345678" in path.read_bytes()]
    assert held == []


def test_a_result_is_remembered_and_no_cache_is_not(place: Place) -> None:
    words = ("vllm", "serve", "x", "--refuse", "no")
    first = place.check(*words)
    (record,) = (place.cache / "outcomes").rglob("*.json")
    text = record.read_text()
    assert text.count('message": "no"') > 1
    record.write_text(text.replace('message": "no"', 'message": "remembered"'))
    assert "ValueError: remembered" in place.check(*words).out
    assert place.check(*words, options=("--no-cache",)).out == first.out


def test_progress_is_shown_on_a_terminal_alone(place: Place) -> None:
    words = ("check", "--no-cache", "--release", "vllm==0.32.0", "--gpu", "cpu", "--", "vllm", "serve", "x")
    piped = place.run(*words)
    assert (piped.code, piped.err) == (0, "")
    screen, terminal = pty.openpty()
    try:
        process = place.start(*words, stderr=terminal)
        os.close(terminal)
        shown = _read_all(screen)
        out, _ = process.communicate(timeout=60)
    finally:
        os.close(screen)
    assert out.decode() == piped.out
    assert "loading vllm 0.32.0 on cpu" in shown
    assert shown.endswith("\r")  # taken away again


def _read_all(descriptor: int) -> str:
    text = b""
    while True:
        try:
            piece = os.read(descriptor, 4096)
        except OSError:  # Linux: nobody writes any more
            break
        if not piece:
            break
        text += piece
    return text.decode()


def test_a_bug_is_no_verdict(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: Any) -> None:
        raise TypeError("'NoneType' object is\nnot subscriptable")

    monkeypatch.setattr("gonogo.reports.listings.list_gpus", broken)
    code, out, err = run(capsys, "gpus")
    assert (code, out) == (4, "")
    assert err == (
        "gonogo: an error of gonogo's own (TypeError: 'NoneType' object is not subscriptable): please report it with"
        " the traceback that GONOGO_TRACEBACK=1 shows\n"
    )
    monkeypatch.setenv("GONOGO_TRACEBACK", "1")
    assert "in broken" in run(capsys, "gpus")[2]
