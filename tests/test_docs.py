"""The documents say what the program does: help texts, schema, printed outputs, commands, links."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import gonogo
from docs import generate
from gonogo.launches import read_command

ROOT = generate.ROOT
PAGES = [path for path in (*generate.PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md") if path.exists()]
BY_NAME = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
CLI = BY_NAME["docs/cli.md"]
pages = pytest.mark.parametrize("text", BY_NAME.values(), ids=BY_NAME)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pages
def test_generated_parts_are_up_to_date(text: str) -> None:
    assert text == generate.generated(text), "run: make docs"


def test_every_command_is_documented() -> None:
    commands = list(generate.commands())
    assert commands[0] == "gonogo"
    assert {"gonogo check", "gonogo gpus", "gonogo releases fetch"} <= set(commands)
    for command in commands:
        assert f"<!-- generated: {command} --help -->\n```text\nusage: {command}" in CLI


def test_every_option_is_in_a_help_text() -> None:
    """An option without a help text of its own would be listed, but not explained."""
    for command, text in generate.commands().items():
        options = re.search(r"^options:\n(.*)", text, re.DOTALL | re.MULTILINE)
        assert options, command
        for line in re.findall(r"^  (--?\S.*(?:\n {8,}\S.*)*)", options[1], re.MULTILINE):
            explained = re.search(r"\s{2,}\S", line)
            assert explained, f"{command}: {line}"


def test_the_part_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="nobody knows"):
        generate.generated("<!-- generated: the moon -->\n<!-- end -->")


def test_an_old_part_is_noticed() -> None:
    old = CLI.replace("  --models-dir DIR ", "  --model-dir DIR ")
    assert old != CLI
    assert generate.generated(old) == CLI


def test_the_schema_on_the_page_is_the_one_that_describes_a_result() -> None:
    (schema,) = [block for block in blocks(BY_NAME["docs/json.md"], "json") if "$defs" in block]
    told = json.loads(schema)
    assert told["title"] == "gonogo.check/1"
    described = BY_NAME["docs/json.md"].partition("## Schema")[0]
    for part in ("CheckResult", "LaunchResult", "WorldResult"):
        for name in told["$defs"][part]["properties"]:
            assert re.search(rf"[`.\[]{name}\b", described), f"{part}.{name} is not explained"


def _launches() -> list[str]:
    lines = [line for text in BY_NAME.values() for block in blocks(text, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("gonogo check") and " -- " in line]


@pytest.mark.parametrize("line", _launches())
def test_every_launch_that_a_page_shows_can_be_read(line: str) -> None:
    words = shlex.split(line, comments=True)
    launch = read_command(words[words.index("--") + 1 :])
    assert launch.engine in line.lower() or launch.entry == "call"
    assert not launch.unread


@pages
def test_links_lead_somewhere(text: str) -> None:
    folder = next(path for path in PAGES if path.read_text(encoding="utf-8") == text).parent
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (folder / target).exists(), target


@pages
def test_files_that_a_page_names_are_there(text: str) -> None:
    named = re.findall(r"`((?:src|tests|bench|docs|examples|dryrun|engines|check|launches)/[\w./-]+)`", text)
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "src" / "gonogo" / name).exists(), name


@pages
def test_every_make_target_that_a_page_names_exists(text: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {*re.findall(r"`make ([a-z]+)", text), *re.findall(r"^make ([a-z]+)", text, re.MULTILINE)}
    assert named <= targets


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    entries = re.findall(r"^## (\S+)", BY_NAME["CHANGELOG.md"], re.MULTILINE)
    assert next(entry for entry in entries if entry != "Unreleased") == gonogo.__version__


def test_the_version_is_the_projects() -> None:
    import tomllib

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == gonogo.__version__


@pytest.mark.engines
@pages
def test_printed_outputs_are_those_of_today(text: str) -> None:
    assert text == generate.with_outputs(text), "run: make docs"


@pytest.mark.engines
def test_the_readme_s_python_runs_and_prints_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (code,) = blocks(BY_NAME["README.md"], "python")
    said = re.findall(r"# prints: (.*)", code)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert said
    assert printed.getvalue().splitlines() == said


@pytest.mark.engines
def test_the_demo_ends_well() -> None:
    done = subprocess.run([sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("NO-GO  ") == 3
    assert len(re.findall(r"^GO  ", done.stdout, re.MULTILINE)) == 2


def test_the_demo_fails_where_a_verdict_is_another(tmp_path: Path) -> None:
    """With an empty cache and an index that does not answer, no verdict is as announced."""
    code = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        env={
            "GONOGO_CACHE": str(tmp_path),
            "PIP_INDEX_URL": "http://127.0.0.1:9/",
            "UV_OFFLINE": "1",
            "HOME": str(tmp_path),
        },
        capture_output=True,
        check=False,
    ).returncode
    assert code == 1
