#!/usr/bin/env python
"""Write again the parts of README.md and docs/*.md that gonogo itself can tell.

    python docs/generate.py             help texts and the JSON Schema
    python docs/generate.py --outputs   also what the commands in ```console blocks print (runs real releases)

A part stands between ``<!-- generated: WHAT -->`` and ``<!-- end -->``. tests/test_docs.py fails where one is out of
date.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
WIDTH = 100

_PART = re.compile(r"(<!-- generated: (?P<what>[^\n]*?) -->\n).*?(<!-- end -->)", re.DOTALL)
_CONSOLE = re.compile(r"(?P<start>^```console\n)(?P<text>.*?)(?P<end>^```$)", re.DOTALL | re.MULTILINE)


def commands() -> dict[str, str]:
    """Every command with its help text: ``gonogo``, ``gonogo check``, ``gonogo releases list`` ..."""
    from gonogo.cli import _parser

    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ.update(COLUMNS=str(WIDTH), NO_COLOR="1")  # argparse fits its texts to the terminal
    try:
        return dict(_helps(_parser()))
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _helps(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    yield parser.prog.split(" [")[0], parser.format_help().rstrip()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in dict.fromkeys(action.choices.values()):
                yield from _helps(inner)


def generated(text: str) -> str:
    """The text of a page with its generated parts written again."""
    helps = commands()

    def part(match: re.Match[str]) -> str:
        what = match["what"]
        if what.endswith(" --help"):
            body = f"```text\n{helps[what.removesuffix(' --help')]}\n```"
        elif what == "schema of gonogo.check/1":
            from gonogo.reports.json_report import schema

            body = f"```json\n{json.dumps(schema(), indent=1)}\n```"
        else:
            raise ValueError(f"nobody knows how to generate {what!r}")
        return f"{match[1]}{body}\n{match[3]}"

    return _PART.sub(part, text)


def with_outputs(text: str) -> str:
    """The text of a page with what the commands of its console blocks print today."""
    return _CONSOLE.sub(lambda match: match["start"] + _session(match["text"]) + match["end"], text)


def _session(text: str) -> str:
    """Commands (``$ `` before the first line, a backslash at the end of all but the last), each with its output."""
    lines, shown, code = iter(text.splitlines()), "", 0
    for line in lines:
        if not line.startswith("$ "):
            continue  # what was printed the last time
        command = [line]
        while command[-1].endswith("\\"):
            command.append(next(lines))
        typed = "\n".join(command)
        shown += typed + "\n"
        if typed == "$ echo $?":
            shown += f"{code}\n"
            continue
        code, printed = _run(typed.removeprefix("$ "))
        shown += printed
    return shown


def _run(command: str) -> tuple[int, str]:
    env = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        "HF_HUB_OFFLINE": "1",  # the examples bring their model facts
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", action="store_true", help="run the commands of console blocks too")
    chosen = parser.parse_args()
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = generated(old)
        new = with_outputs(new) if chosen.outputs else new
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()
