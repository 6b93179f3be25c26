"""What people read. Expected texts are written by hand."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.check.result import CheckResult
from gonogo.dryrun.outcome import Error, Site
from gonogo.launches.types import Source
from gonogo.problems import UsageProblem
from gonogo.reports import TerminalReport, report_named

from .samples import EVERYTHING, FAST_PREFILL, README, check, launch, refused, world


def shown(result: CheckResult, width: int = 100) -> str:
    return TerminalReport(width).render(result)


def test_one_refusal_as_the_readme_shows_it() -> None:
    assert shown(README) == dedent(
        """\
        NO-GO  vllm 0.33.0 (newest) on 8x H100-80GB, model facts from the hub cache
          ValueError: Fast prefill optimization for KV sharing is not compatible with EAGLE as EAGLE
            requires correct logits for all tokens while fast prefill gives incorrect logits for prompt
            tokens.
          raised at vllm/config/vllm.py:2023 in VllmConfig.__post_init__
        """
    )


def test_a_go_says_how_far_it_looked() -> None:
    passed = launch("GO", world(release_from="option", count=1), assumed=("model facts: folder",))
    assert shown(check("GO", passed)) == dedent(
        """\
        GO  vllm 0.33.0 on 1x H100-80GB, model facts from the folder
          looked at: arguments, configuration; not at: weights, kernels, network
        """
    )


def test_a_hold_names_what_decides_and_where() -> None:
    open_gpu = launch(
        "HOLD",
        refused(gpu="A100-80GB", count=1),
        refused(gpu="L4", count=1),
        world(count=1),
        world(gpu="MI300X", count=1, outcome="unclear", reason="a fake of aiter was in the way", depends_on=("aiter",)),
        decided_by="gpu",
        assumed=("release: newest", "gpu: open, tried on A100-80GB, L4, H100-80GB, MI300X"),
    )
    assert shown(check("HOLD", open_gpu)) == dedent(
        """\
        HOLD  vllm 0.33.0 (newest) on 1x A100-80GB, L4, H100-80GB or MI300X
          what decides: gpu
          refused on A100-80GB, L4
            ValueError: Fast prefill optimization for KV sharing is not compatible with EAGLE as EAGLE
              requires correct logits for all tokens while fast prefill gives incorrect logits for prompt
              tokens.
            raised at vllm/config/vllm.py:2023 in VllmConfig.__post_init__
          unclear on MI300X
            a fake of aiter was in the way
            depends on: aiter
          passes on H100-80GB
          assumed: gpu open, tried on A100-80GB, L4, H100-80GB, MI300X
          looked at: arguments, configuration; not at: weights, kernels, network
        """
    )


def test_releases_that_differ() -> None:
    older = replace(FAST_PREFILL, site=Site("vllm/config/vllm.py", 1947, "VllmConfig.__post_init__"))
    open_release = launch(
        "HOLD",
        refused(release_from="image"),
        refused(release="0.32.0", release_from="image", error=older),
        world(release="0.31.0", release_from="image"),
        decided_by="release",
        assumed=("release: vllm/vllm-openai:latest does not say which; tried 0.33.0, 0.32.0, 0.31.0",),
    )
    assert shown(check("HOLD", open_release), 200) == dedent(
        f"""\
        HOLD  vllm 0.33.0, 0.32.0 or 0.31.0 (image) on 8x H100-80GB
          what decides: release
          refused in 0.33.0, 0.32.0
            ValueError: {FAST_PREFILL.message}
            raised at vllm/config/vllm.py:2023 in VllmConfig.__post_init__ (0.33.0)
            raised at vllm/config/vllm.py:1947 in VllmConfig.__post_init__ (0.32.0)
          passes in 0.31.0
          assumed: release vllm/vllm-openai:latest does not say which; tried 0.33.0, 0.32.0, 0.31.0
          looked at: arguments, configuration; not at: weights, kernels, network
        """
    )


def test_several_launches_from_files_and_their_count() -> None:
    assert shown(EVERYTHING) == dedent(
        """\
        NO-GO  compose.yaml:12: vllm 0.33.0 (newest) on 8x H100-80GB, model facts from the hub cache
          ValueError: Fast prefill optimization for KV sharing is not compatible with EAGLE as EAGLE
            requires correct logits for all tokens while fast prefill gives incorrect logits for prompt
            tokens.
          raised at vllm/config/vllm.py:2023 in VllmConfig.__post_init__
          depends on: ray
          because of: --kv-sharing-fast-prefill, speculative_config.method eagle (resolved)
          fix: remove --kv-sharing-fast-prefill (GO)
          warning: one

        HOLD  vllm 0.33.0 (newest) on 8x H100-80GB, model facts from the hub cache
          the engine asked for tokenizer.json

        GO  vllm 0.33.0 (newest) on 8x H100-80GB, model facts from the hub cache
          looked at: arguments, configuration; not at: weights, kernels, network

        NO-GO  3 launches: 1 NO-GO, 1 HOLD, 1 GO
        """
    )


def test_worlds_that_are_no_simple_product_are_told_one_by_one() -> None:
    mixed = launch(
        "HOLD",
        refused(release="0.32.0", gpu="L4"),
        refused(gpu="T4"),
        world(gpu="L4"),
        world(release="0.32.0", gpu="T4"),
        decided_by="gpu",
    )
    text = shown(check("HOLD", mixed))
    assert "  refused in 0.32.0 on L4; in 0.33.0 on T4\n" in text
    assert "  passes in 0.33.0 on L4; in 0.32.0 on T4\n" in text


def test_counts_and_nodes_that_differ_are_named() -> None:
    sized = launch("HOLD", refused(count=1), world(count=8, nodes=2), decided_by="gpu")
    text = shown(check("HOLD", sized))
    assert text.startswith("HOLD  vllm 0.33.0 (newest) on 1x H100-80GB or 2 nodes of 8x H100-80GB, ")
    assert "  refused on 1x H100-80GB\n" in text
    assert "  passes on 2 nodes of 8x H100-80GB\n" in text


def test_stand_in_models_are_told_under_assumed() -> None:
    models = [f"mine/own (a stand-in: {shape})" for shape in ("dense", "MoE")]
    text = shown(
        check(
            "HOLD",
            launch(
                "HOLD",
                refused(model=models[0]),
                world(model=models[1]),
                decided_by="model",
                assumed=tuple(f"model facts: {model}" for model in models),
            ),
        )
    )
    assert text.startswith("HOLD  vllm 0.33.0 (newest) on 8x H100-80GB\n")
    assert "  refused with mine/own (a stand-in: dense)\n" in text
    assert "  assumed: model facts mine/own (a stand-in: dense); model facts mine/own (a stand-in: MoE)\n" in text


def test_an_assert_without_a_message_and_a_crash() -> None:
    asserted = refused(error=Error("0" * 16, "AssertionError", (), "", None))
    assert shown(check("NO-GO", launch("NO-GO", asserted))).splitlines()[1:] == ["  AssertionError"]
    crash = refused(
        outcome="crashed", error=Error("0" * 16, "TypeError", (), "x is None", None), reason="a bug in vllm"
    )
    assert shown(check("NO-GO", launch("NO-GO", crash))).splitlines()[1:] == [
        "  TypeError: x is None",
        "  a bug in vllm",
    ]


def test_three_warnings_at_most_each_once() -> None:
    warned = launch("GO", world(warnings=("WARNING vllm.a:1 one", "two", "two", "three", "four", "five" * 200)))
    lines = shown(check("GO", warned)).splitlines()[1:-1]
    assert lines == [
        "  warning: vllm.a:1 one",
        "  warning: two",
        "  warning: three",
        "  and 2 more (--json shows all)",
    ]


def test_nothing_to_show() -> None:
    assert shown(check("GO")) == "no launch found\n"
    empty = launch("HOLD", assumed=())
    assert shown(check("HOLD", empty)) == "HOLD  vllm\n  no dry run was made\n"


def test_lines_of_a_message_stay_lines() -> None:
    message = "1 validation error for X\r\nmethod\n\n  Input should be 'a'\n\tor not"
    error = Error("0" * 16, "ValidationError", (), message, None)
    assert shown(check("NO-GO", launch("NO-GO", refused(error=error)))).splitlines()[1:] == [
        "  ValidationError: 1 validation error for X",
        "    method",
        "      Input should be 'a'",
        "    or not",
    ]


def test_control_characters_never_reach_the_terminal() -> None:
    evil = "\x1b[31mred\x07 \x9b2J \u202egpj.exe \u2028 caf\u00e9\u00a0bar \udcff"
    error = Error("0" * 16, f"E{evil}", (), evil, Site(evil, 3, evil))
    text = shown(
        check(
            "NO-GO",
            launch(
                "NO-GO",
                refused(error=error, warnings=(evil,), reason=evil, gpu=evil, release=evil),
                engine=evil,
                assumed=(f"x: {evil}",),
                source=Source(evil, 1),
            ),
        )
    )
    assert "\\x1b[31mred\\x07 \\x9b2J \\u202egpj.exe \\u2028 caf\u00e9 bar \\udcff" in text.replace("\n    ", " ")
    assert all(char.isprintable() or char == "\n" for char in text)


def test_a_huge_message_is_cut_and_said_to_be() -> None:
    error = Error("0" * 16, "ValueError", (), "word " * 200_000, None)
    text = shown(check("NO-GO", launch("NO-GO", refused(error=error))))
    assert len(text) < 10_000
    assert "... and 999000 more characters (--json shows all)" in text


def test_a_warning_of_a_megabyte_is_cut() -> None:
    text = shown(check("GO", launch("GO", world(warnings=("word " * 200_000,)))))
    assert len(text.splitlines()) <= 6
    assert text.splitlines()[-2].endswith("...")


@given(st.text(), st.text(), st.integers(20, 200))
def test_any_text_is_printable_and_as_wide_as_its_longest_word(message: str, name: str, width: int) -> None:
    error = Error("0" * 16, "ValueError", (), message, Site(name, 1, name))
    text = shown(check("NO-GO", launch("NO-GO", refused(error=error, warnings=(name,)))), width)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert text.startswith("NO-GO  ")


@pytest.mark.parametrize("verdict", ["GO", "NO-GO", "HOLD"])
def test_no_report_promises_a_start(verdict: str) -> None:
    for result in (README, EVERYTHING, check(verdict, launch(verdict, world()))):
        assert not re.search(r"will (start|work|run)|safe to|succe", shown(result))


def test_colour_changes_nothing_but_colour() -> None:
    coloured = TerminalReport(colour=True).render(EVERYTHING)
    assert coloured.startswith("\x1b[1;31mNO-GO\x1b[0m  compose.yaml:12: vllm")
    assert "\x1b[1mValueError\x1b[0m: Fast" in coloured
    assert "\x1b[1;33mHOLD\x1b[0m" in coloured
    assert "\x1b[1;32mGO\x1b[0m" in coloured
    assert "  \x1b[2mlooked at: arguments" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == shown(EVERYTHING)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "colour", "environment", "expected"),
    [
        (_Terminal(), "auto", {}, True),
        (_Terminal(), "auto", {"NO_COLOR": "1"}, False),
        (_Terminal(), "auto", {"NO_COLOR": ""}, True),
        (_Terminal(), "auto", {"TERM": "dumb"}, False),
        (_Terminal(), "never", {}, False),
        (_Terminal(), "always", {"NO_COLOR": "1"}, True),
        (io.StringIO(), "auto", {}, False),
        (io.StringIO(), "always", {}, True),
    ],
)
def test_when_there_is_colour(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, colour: str, environment: dict[str, str], expected: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    report = report_named("text", stream=stream, colour=colour)  # type: ignore[arg-type]
    assert ("\x1b[" in report.render(README)) is expected


def test_width_is_the_terminal_s_or_100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert TerminalReport.for_stream(_Terminal()).width == 60
    assert TerminalReport.for_stream(io.StringIO()).width == 100


def test_an_unknown_format() -> None:
    with pytest.raises(UsageProblem, match="unknown format 'yaml': choose text or json"):
        report_named("yaml")
