"""The command line: parse options, call the API, pick a report, exit code. Imports what a command needs when it runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gonogo.problems import OwnProblem, Problem, UsageProblem

if TYPE_CHECKING:
    from gonogo.check.result import CheckResult
    from gonogo.reports import Report

_EXIT = {"GO": 0, "NO-GO": 1, "HOLD": 3}
_FORMATS = ("text", "json")

_CHECK_EPILOG = """\
A launch is what stands behind "--": vllm serve ..., python -m vllm.entrypoints.openai.api_server ..., sglang serve ...,
python -m sglang.launch_server ..., 'LLM(...)' or 'Engine(...)' as one word, with NAME=value in front or inside docker run.

exit codes: 0 GO, 1 NO-GO, 2 usage, 3 HOLD (0 with --hold pass), 4 gonogo's own failure"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    launch: list[str] | None = None
    if "--" in words:
        at = words.index("--")
        words, launch = words[:at], words[at + 1 :]
    machine = any(word == "--json" or word == "--format=json" for word in words) or _follows(words, "--format", "json")
    try:
        options = _parser().parse_args(words)
        if options.command != "check" and launch is not None:
            raise UsageProblem(f"gonogo {options.command} takes no launch: leave out what stands behind --")
        return int(options.run(options, launch))
    except Problem as problem:
        return _tell(problem, machine)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; keep Python from failing again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        return _tell(OwnProblem(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"), machine)


def _follows(words: list[str], option: str, value: str) -> bool:
    return any(pair == (option, value) for pair in zip(words, words[1:], strict=False))


def _tell(problem: Problem, machine: bool) -> int:
    if machine:
        from gonogo.reports import render_problem

        print(render_problem(problem), end="")
    print(f"gonogo: {problem}", file=sys.stderr)
    return problem.exit_code


class _Parser(argparse.ArgumentParser):
    """argparse that says what is wrong in one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageProblem(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gonogo", description="Go / no-go for LLM servers: checks vLLM and SGLang launches with the engine's own start-up code."
    )
    parser.add_argument("--version", action="version", version=f"gonogo {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _add_check(commands)
    _add_releases(commands)
    gpus = commands.add_parser("gpus", help="list the hardware that is known", description="List the GPUs that gonogo can pretend.")
    gpus.add_argument("names", nargs="*", metavar="NAME", help="show these with the source of each fact")
    _add_format(gpus)
    gpus.set_defaults(run=_gpus)
    return parser


def _version() -> str:
    from gonogo import __version__

    return __version__


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=_FORMATS, default="text", help="how to print the result (default: text)")
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="short for --format json")


def _add_check(commands: argparse._SubParsersAction[_Parser]) -> None:
    check = commands.add_parser(
        "check", help="check a launch before launch", epilog=_CHECK_EPILOG, usage="gonogo check [options] -- COMMAND...",
        description="Run the engine's own start-up code on pretend hardware and say what it makes of a launch.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("--release", metavar="ENGINE==VERSION", help="the release to check against (default: the image's, the installed, the newest)")
    check.add_argument("--gpu", action="append", default=[], metavar="NAME[:COUNT][xNODES]", help="the hardware, H100:8 or H100:8x2; may be given several times (default: a representative set)")
    check.add_argument("--models-dir", metavar="DIR", help="a hub in a folder: ORG/NAME/config.json")
    check.add_argument("--model-facts", action="append", default=[], metavar="PATH=ORG/NAME|DIR", help="which model a path in the launch is")
    check.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="an environment variable of the launch")
    check.add_argument("--offline", action="store_true", help="ask nothing of a model hub")
    check.add_argument("--allow-code", action="store_true", help="trust variables of the launch that bring code (PYTHONPATH, LD_PRELOAD); they are still not executed")
    check.add_argument("--hold", choices=("fail", "pass"), default="fail", help="whether HOLD ends with exit code 3 or 0 (default: fail)")
    check.add_argument("--no-cache", action="store_true", help="run every dry run anew instead of remembering outcomes")
    check.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours (default: auto)")
    _add_format(check)
    check.set_defaults(run=_check)


def _add_releases(commands: argparse._SubParsersAction[_Parser]) -> None:
    releases = commands.add_parser("releases", help="list, fetch and remove releases", description="The releases of the engines, and those in the cache.")
    actions = releases.add_subparsers(dest="action", metavar="ACTION", parser_class=_Parser)
    listing = actions.add_parser("list", help="what is in the cache; with ENGINE: what there is")
    listing.add_argument("engine", nargs="?")
    _add_format(listing)
    for name, text in (("fetch", "fetch releases into the cache"), ("remove", "remove releases from the cache")):
        action = actions.add_parser(name, help=text)
        action.add_argument("specs", nargs="+", metavar="ENGINE==VERSION")
    releases.set_defaults(run=_releases, engine=None, format="text")


def _check(options: argparse.Namespace, launch: list[str] | None) -> int:
    if not launch:
        raise UsageProblem("no launch given: write it behind --, as in gonogo check --gpu H100:8 -- vllm serve MODEL")
    from gonogo.check.checker import Checker
    from gonogo.models.mounted import parse_mounted

    env = dict(_pair(word) for word in options.env)
    with Checker(remember=not options.no_cache) as checker:
        result = checker.check(
            launch, release=options.release, gpu=options.gpu, models_dir=options.models_dir,
            model_facts=parse_mounted(options.model_facts), env=env, hub=not options.offline, allow_code=options.allow_code,
        )
    print(_report(options).render(result), end="")
    return _code(result, options.hold)


def _report(options: argparse.Namespace) -> Report:
    from gonogo.reports import report_named

    return report_named("terminal" if options.format == "text" else options.format, colour=options.color)


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name or "\0" in word:
        raise UsageProblem(f"--env {word!r} is not NAME=VALUE")
    return name, value


def _code(result: CheckResult, hold: str) -> int:
    return 0 if result.verdict == "HOLD" and hold == "pass" else _EXIT[result.verdict]


def _releases(options: argparse.Namespace, _launch: list[str] | None) -> int:
    from gonogo.releases import Releases

    releases = Releases()
    if options.action in ("fetch", "remove"):
        for spec in options.specs:
            engine, version = releases.parse(spec)
            if options.action == "fetch":
                release = releases.get(engine, version or releases.newest(engine))
                print(f"{release.engine} {release.version}")
            elif version is None:
                raise UsageProblem(f"say which release of {engine} to remove: {engine}==VERSION")
            else:
                releases.remove(engine, version)
                print(f"removed {engine} {version}")
        return 0
    from gonogo.reports.listings import print_cached, print_known

    if options.engine:
        print_known(options.engine, releases, options.format)
    else:
        print_cached(releases, options.format)
    return 0


def _gpus(options: argparse.Namespace, _launch: list[str] | None) -> int:
    from gonogo.reports.listings import print_gpus

    print_gpus(options.names, options.format)
    return 0
