"""Where a raise site stands, and whether a line said no."""

from __future__ import annotations

import configparser
import fractions
import ipaddress
import json
import os
import string
import uuid
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from gonogo.source import raise_site_at, raise_sites_in, said_no

SOURCE = dedent(
    '''
    import sys
    from argparse import ArgumentParser

    if sys.platform == "win32":
        raise ImportError("not here")


    class Config:
        """A config."""

        def check(self, value):
            if value < 0:
                raise ValueError(
                    "value must not be negative, "
                    f"got {value}"
                )
            assert value != 3, (
                "three is taken"
            )
            assert value.size > 4

            def inner():
                raise errors.TooBig

            class Local:
                async def run(self):
                    raise
            return inner

        class Part:
            def check(self, parser, item):
                if not item:
                    parser.error(f"Invalid item: {item}")
                if item == 2:
                    return sys.exit("stopped")
                self.error("only a log line")


    class OwnParser(ArgumentParser):
        def complain(self, text):
            self.error("bad " + text)
            super().error(text)
    '''
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.py"
    path.write_text(SOURCE)
    return path


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("text", "kind", "exception", "template", "function"),
    [
        ('ImportError("not', "raise", "ImportError", "not here", "<module>"),
        ("raise ValueError(", "raise", "ValueError", "value must not be negative, got {}", "Config.check"),
        ("assert value != 3", "assert", "AssertionError", "three is taken", "Config.check"),
        ("assert value.size", "assert", "AssertionError", "value.size > 4", "Config.check"),
        ("raise errors.TooBig", "raise", "TooBig", "", "Config.check.<locals>.inner"),
        ("        raise\n".rstrip(), "raise", "ValueError", "value must not be negative, got {}", "Config.check"),
        ("parser.error", "call", "ArgumentError", "Invalid item: {}", "Config.Part.check"),
        ("sys.exit", "call", "SystemExit", "stopped", "Config.Part.check"),
        ('self.error("bad', "call", "ArgumentError", "bad {}", "OwnParser.complain"),
        ("super().error", "call", "ArgumentError", "{}", "OwnParser.complain"),
    ],
)
def test_sites(file: Path, text: str, kind: str, exception: str, template: str, function: str) -> None:
    site = raise_site_at(file, line_of(text))
    assert site is not None
    assert (site.kind, site.exception, site.template, site.function) == (kind, exception, template, function)


def test_every_line_of_a_statement_belongs_to_its_site(file: Path) -> None:
    first = line_of("raise ValueError(")
    found = [raise_site_at(file, line) for line in range(first - 1, first + 5)]
    assert found[0] is None
    assert {(site.line_first, site.line_last) for site in found[1:5] if site} == {(first, first + 3)}
    assert found[5] == raise_site_at(file, first + 5)


def test_a_bare_raise_says_neither_type_nor_message(file: Path) -> None:
    site = raise_site_at(file, line_of("async def run") + 1)
    assert site is not None
    assert (site.exception, site.message, site.template) == (None, None, None)
    assert site.function == "Config.check.<locals>.Local.run"


def test_all_sites_in_order_of_lines(file: Path) -> None:
    sites = raise_sites_in(file)
    assert sites is not None
    assert len(sites) == 10
    assert [site.line_first for site in sites] == sorted(site.line_first for site in sites)


def test_said_no(file: Path) -> None:
    assert said_no(file, line_of("got {value}"))
    assert said_no(file, line_of("parser.error"))
    assert not said_no(file, line_of("value < 0"))
    assert not said_no(file, line_of("only a log line"))
    assert said_no(file, line_of("assert value.size"), "AssertionError")
    assert not said_no(file, line_of("assert value.size"), "AttributeError")


# Syntax of a Python that does not exist yet, around a raise of today.
NEWER = dedent(
    """
    def check(value):
        value ?= 3
        raise ValueError(
            f"got ({value})"
        )
        value = 4
        assert value
    """
)


def test_source_that_this_python_cannot_parse(tmp_path: Path) -> None:
    file = tmp_path / "newer.py"
    file.write_text(NEWER)
    assert raise_sites_in(file) is None
    assert raise_site_at(file, 4) is None
    assert [line for line in range(1, 9) if said_no(file, line)] == [4, 5, 6, 8]


@pytest.mark.parametrize(
    "content",
    [
        b"raise ValueError('\0')\n",
        b"# coding: no-such-coding\nraise ValueError\n",
        b"x = '\xff'\n",
        b"x = " + b"(" * 5000 + b")" * 5000,
        b"x = " + b"-" * 200_000 + b"1",
    ],
)
def test_broken_files_have_no_sites(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken.py"
    file.write_bytes(content)
    assert raise_sites_in(file) is None
    assert raise_site_at(file, 1) is None
    said_no(file, 99)


@pytest.mark.parametrize("name", ["missing.py", ".", "<frozen importlib._bootstrap>", "nul\0.py"])
def test_no_file_no_site(tmp_path: Path, name: str) -> None:
    assert raise_site_at(tmp_path / name, 1) is None
    assert not said_no(tmp_path / name, 1)


def test_warnings_of_the_source_stay_quiet(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    file = tmp_path / "old.py"
    file.write_text("assert 'a\\d' is 3, '\\w'\n")
    assert raise_site_at(file, 1) is not None
    assert not recwarn.list


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "moving.py"
    file.write_text("raise ValueError('one')\n")
    assert raise_site_at(file, 1) is not None
    file.write_text("\n\nraise ValueError('one')\n")
    os.utime(file, ns=(1, 1))
    assert raise_site_at(file, 1) is None
    assert raise_site_at(file, 3) is not None


def test_a_long_elif_chain(tmp_path: Path) -> None:
    file = tmp_path / "chain.py"
    file.write_text("if x == 0:\n    pass\n" + "elif x == 1:\n    raise ValueError('one')\n" * 400)
    sites = raise_sites_in(file)
    assert sites is None or len(sites) == 400  # Python's own parser gives up on deep chains in some releases


@pytest.mark.parametrize(
    "call",
    [
        lambda: json.loads("no"),
        lambda: ipaddress.ip_address("1.2.3"),
        lambda: ipaddress.ip_network("1.2.3.4/77"),
        lambda: fractions.Fraction("one"),
        lambda: uuid.UUID("12"),
        lambda: string.Template("$").substitute(),
        lambda: configparser.ConfigParser().get("no", "thing"),
        lambda: configparser.ConfigParser().read_string("x = 1"),
    ],
)
def test_errors_of_the_standard_library(call: Callable[[], object]) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    spoke = caught.traceback[-1]
    site = raise_site_at(Path(spoke.path), spoke.lineno + 1)
    assert site is not None
    assert said_no(Path(spoke.path), spoke.lineno + 1)
    assert site.exception in (type(caught.value).__name__, None)
    assert site.function.rpartition(".")[2] == spoke.name
