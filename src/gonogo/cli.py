"""The command line: parse options, call the API, pick a report, exit code. Each command imports what it needs."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from gonogo import __version__
from gonogo.exits import run_to_end, say, say_aside
from gonogo.problems import Problem, UsageProblem

if TYPE_CHECKING:
    from gonogo.check.result import CheckResult

_EXIT = {"GO": 0, "NO-GO": 1, "HOLD": 3}
_COMMANDS = ("check", "releases", "gpus")
_FORMATS = ("text", "json")
_EXAMPLE = "gonogo check --gpu H100:8 -- vllm serve MODEL"

_CODES = """\
exit codes: 0 GO, 1 NO-GO, 2 usage, 3 HOLD (0 with --hold pass),
            4 gonogo's own failure"""
_MAIN_EPILOG = f"""\
example: {_EXAMPLE}

{_CODES}"""
_CHECK_EPILOG = f"""\
What stands behind "--" is the launch: vllm serve ..., sglang serve ...,
python -m vllm.entrypoints.openai.api_server ..., python -m
sglang.launch_server ..., docker run ... IMAGE ..., or LLM(...) or Engine(...)
in one word; with NAME=value in front where need be.

Nothing of a launch is executed: the engine's own start-up code reads it, in a
child without network. Keys, tokens and passwords are not given to the child,
and stand as *** in reports.

{_CODES}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command with the words ``argv`` (those of this process unless given); the exit code."""
    given = _own_words() if argv is None else list(argv)
    words, launch = given, None
    if "--" in given:
        at = given.index("--")
        words, launch = given[:at], given[at + 1 :]
    return run_to_end(lambda: _run(words, launch), lambda problem: _tell(problem, words, launch or []))


def _own_words() -> list[str]:
    """The words of this process. Engines run in UTF-8, so the bytes are read as such whatever the locale is."""
    return [os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv[1:]]


def _run(words: list[str], launch: list[str] | None) -> int:
    parser = _parser()
    if not words and launch is None:
        say_aside(parser.format_help().rstrip("\n"))
        return UsageProblem.exit_code
    _know_command(words, launch)
    options, unknown = parser.parse_known_args(words)
    if options.command == "check" and options.paths:
        raise _no_launch_in(options, unknown, launch)
    if unknown:
        raise _unknown_argument(options, unknown[0])
    if options.command != "check" and launch is not None:
        raise UsageProblem(f"gonogo {options.command} takes no launch: leave out what stands behind --")
    return int(options.run(options, launch))


def _tell(problem: Problem, words: list[str], launch: list[str]) -> None:
    """What is wrong, in one line on stderr, and on stdout too where a machine format was asked for."""
    from gonogo.check.secrets import without_secrets_of

    told = type(problem)(without_secrets_of(str(problem), [*words, *launch]))
    if "--json" in words or "--format=json" in words or ("--format", "json") in pairwise(words):
        from gonogo.reports import render_problem

        command = next((word for word in words if word in _COMMANDS), "check")
        say(render_problem(told, f"gonogo.{command}/1"))
    say_aside(f"gonogo: {told}")


# -- what is wrong with the words of a command line


def _know_command(words: list[str], launch: list[str] | None) -> None:
    """Raise UsageProblem where the command is left out or is none of gonogo's."""
    command = next((word for word in words if not word.startswith("-")), None)
    if command in _COMMANDS or {"-h", "--help", "--version"}.intersection(words):
        return
    if command is None:
        behind = "" if launch is None else f", as in {_EXAMPLE}"
        raise UsageProblem(f"no command given: write one of {', '.join(_COMMANDS)} behind gonogo{behind}")
    from gonogo.launches.programs import is_program

    if is_program(command):
        raise UsageProblem(f"a launch stands behind check and --, as in {_EXAMPLE}")
    raise UsageProblem(f"unknown command {command!r}: {_meant(command, _COMMANDS)} (see gonogo --help)")


def _no_launch_in(options: argparse.Namespace, unknown: list[str], launch: list[str] | None) -> UsageProblem:
    """What to say of words that stand where paths to files with launches will."""
    from gonogo.launches.programs import is_program

    first = options.paths[0]
    if launch is None and is_program(first):
        return UsageProblem(f"a launch stands behind --, as in {_EXAMPLE}")
    if unknown:
        return _unknown_argument(options, unknown[0])
    return UsageProblem(f"{first!r}: launches in files are not read yet; give one behind --, as in {_EXAMPLE}")


def _unknown_argument(options: argparse.Namespace, word: str) -> UsageProblem:
    name = word.partition("=")[0]
    close = difflib.get_close_matches(name, options.known_options, 1, 0.75) if name.startswith("--") else []
    hint = f": is it {close[0]}?" if close else ""
    return UsageProblem(f"unexpected argument {word!r}{hint} (see {options.prog} --help)")


def _meant(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), 1, 0.6)
    return f"is it {close[0]}?" if close else f"there are {', '.join(known)}"


class _Parser(argparse.ArgumentParser):
    """argparse with one line of what is wrong, and no abbreviations: an option added later would break them."""

    def __init__(self, *args: object, **options: object) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(*args, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        raise UsageProblem(f"{message} (see {self.prog} --help)")

    def runs(self, run: object) -> None:
        """Let the options that this parser reads say what to run, and what else they could have been."""
        known = [option for action in self._actions for option in action.option_strings]
        self.set_defaults(run=run, prog=self.prog, known_options=known)


# -- the parser


def _parser() -> _Parser:
    parser = _Parser(
        prog="gonogo",
        usage="gonogo COMMAND [options]",
        description="Go / no-go for LLM servers: checks vLLM and SGLang launches with the engine's own start-up code.",
        epilog=_MAIN_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"gonogo {__version__}", help="show the version and exit"
    )
    commands = parser.add_subparsers(
        dest="command", required=True, title="commands", metavar="COMMAND", prog="gonogo", parser_class=_Parser
    )
    _add_check(commands)
    _add_releases(commands)
    _add_gpus(commands)
    return parser


def _add_format(parser: argparse.ArgumentParser, default: str = "text") -> None:
    parser.add_argument("--format", choices=_FORMATS, default=default, help="how to print the result (default: text)")
    parser.add_argument(
        "--json", action="store_const", dest="format", const="json", default=default, help="short for --format json"
    )


def _add_check(commands: argparse._SubParsersAction[_Parser]) -> None:
    check = commands.add_parser(
        "check",
        help="check a launch before launch",
        usage="gonogo check [options] -- COMMAND...",
        description="Run the engine's own start-up code on pretend hardware and say what it makes of a launch.",
        epilog=_CHECK_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("paths", nargs="*", help=argparse.SUPPRESS)
    world = check.add_argument_group("what is assumed of the launch")
    world.add_argument(
        "--release",
        metavar="ENGINE==VERSION|DIR",
        help="the release to check against: a version, or a folder with a checkout, an unpacked sdist or wheel, or an "
        "environment (default: that of the image, the installed one, the newest)",
    )
    world.add_argument(
        "--gpu",
        action="append",
        default=[],
        metavar="NAME[:COUNT][xNODES]",
        help="H100:8, H100:8x2 for two nodes, or cpu; can be given again (default: a representative set)",
    )
    world.add_argument("--models-dir", metavar="DIR", help="a folder with model facts: DIR/ORG/NAME/config.json")
    world.add_argument(
        "--model-facts",
        action="append",
        default=[],
        metavar="PATH=ORG/NAME|DIR",
        help="which model a path in the launch is; can be given again",
    )
    world.add_argument("--offline", action="store_true", help="ask nothing of the model hub")
    world.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an environment variable of the launch; can be given again",
    )
    world.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="NAME",
        help="a package of the official image that is not installed (its distribution or import name); can be given again",
    )
    world.add_argument(
        "--with",
        action="append",
        default=[],
        dest="with_",
        metavar="NAME[==VERSION]",
        help="a package that is installed besides; can be given again",
    )
    world.add_argument(
        "--allow-code",
        action="store_true",
        help="check launches that set variables which bring code (PYTHONPATH, LD_PRELOAD); it is still not executed",
    )
    result = check.add_argument_group("the result")
    _add_format(result)  # type: ignore[arg-type]  # a group adds arguments as a parser does
    result.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours (default: auto)")
    result.add_argument(
        "--hold", choices=("fail", "pass"), default="fail", help="whether HOLD exits with 3 or 0 (default: fail)"
    )
    result.add_argument("--no-cache", action="store_true", help="make every dry run anew, and remember none")
    check.runs(_check)


def _add_releases(commands: argparse._SubParsersAction[_Parser]) -> None:
    releases = commands.add_parser(
        "releases",
        help="list, fetch and remove releases",
        description="The releases of the engines: those in the cache, and those there are.",
    )
    _add_format(releases)
    releases.set_defaults(engine=None)
    releases.runs(_list_releases)
    actions = releases.add_subparsers(
        dest="action", title="actions", metavar="ACTION", prog="gonogo releases", parser_class=_Parser
    )
    listing = actions.add_parser("list", help="list the releases in the cache (also without ACTION)")
    listing.add_argument(
        "engine", nargs="?", metavar="ENGINE", help="list all releases of this engine, in the cache or not"
    )
    fetch = actions.add_parser("fetch", help="fetch releases into the cache")
    remove = actions.add_parser("remove", help="remove releases from the cache")
    for action in (fetch, remove):
        action.add_argument("specs", nargs="+", metavar="ENGINE==VERSION|DIR", help="a release, or a folder with one")
    for action, run in ((listing, _list_releases), (fetch, _fetch_releases), (remove, _remove_releases)):
        _add_format(action, argparse.SUPPRESS)
        action.runs(run)


def _add_gpus(commands: argparse._SubParsersAction[_Parser]) -> None:
    gpus = commands.add_parser(
        "gpus", help="list the hardware that is known", description="List the GPUs that gonogo can pretend."
    )
    gpus.add_argument("names", nargs="*", metavar="NAME", help="show only these, with the source of each fact")
    _add_format(gpus)
    gpus.runs(_gpus)


# -- the commands


def _check(options: argparse.Namespace, launch: list[str] | None) -> int:
    if not launch:
        raise UsageProblem(f"no launch given: write it behind --, as in {_EXAMPLE}")
    env = dict(_pair(word) for word in options.env)

    from gonogo.check.checker import Checker
    from gonogo.models.mounted import parse_mounted
    from gonogo.progress import Progress
    from gonogo.reports import report_named

    report = report_named(options.format, colour=options.color)
    progress = Progress()
    try:
        with Checker(remember=not options.no_cache, progress=progress) as checker:
            result = checker.check(
                launch,
                release=options.release,
                gpu=options.gpu,
                models_dir=options.models_dir,
                model_facts=parse_mounted(options.model_facts),
                env=env,
                without=options.without,
                with_=options.with_,
                hub=not options.offline,
                allow_code=options.allow_code,
            )
    finally:
        progress.clear()
    say(report.render(result))
    return _code(result, options.hold)


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.strip():
        raise UsageProblem(f"--env {word[:60]!r} is not NAME=VALUE")
    return name, value


def _code(result: CheckResult, hold: str) -> int:
    return 0 if result.verdict == "HOLD" and hold == "pass" else _EXIT[result.verdict]


def _list_releases(options: argparse.Namespace, _launch: list[str] | None) -> int:
    from gonogo.releases import Releases
    from gonogo.reports.listings import list_cached, list_known

    releases = Releases()
    if options.engine:
        say(list_known(options.engine, releases, options.format))
    else:
        say(list_cached(releases, options.format))
    for note in releases.notes:
        say_aside(f"gonogo: {note}")
    return 0


def _fetch_releases(options: argparse.Namespace, _launch: list[str] | None) -> int:
    from gonogo.releases import Releases
    from gonogo.reports.listings import list_done

    releases, done = Releases(), []
    parsed = [None if releases.is_folder(spec) else releases.parse(spec) for spec in options.specs]
    for spec, named in zip(options.specs, parsed, strict=True):
        for engine, version in [named] if named is not None else releases.take_all(Path(spec)):
            release = releases.get(engine, version or releases.newest(engine))
            done.append((release.engine, release.version))
    say(list_done("fetched", done, options.format))
    for note in releases.notes:
        say_aside(f"gonogo: {note}")
    return 0


def _remove_releases(options: argparse.Namespace, _launch: list[str] | None) -> int:
    from gonogo.releases import Releases
    from gonogo.reports.listings import list_done

    releases, done = Releases(), []
    parsed = [None if releases.is_folder(spec) else releases.parse(spec) for spec in options.specs]
    for named in parsed:
        if named is not None and named[1] is None:
            raise UsageProblem(f"say which release of {named[0]} to remove: {named[0]}==VERSION")
    for spec, named in zip(options.specs, parsed, strict=True):
        if named is None:
            done += releases.remove_folder(Path(spec))
        else:
            done += [(named[0], version) for version in releases.remove(named[0], spec.partition("==")[2].strip())]
    say(list_done("removed", done, options.format))
    return 0


def _gpus(options: argparse.Namespace, _launch: list[str] | None) -> int:
    from gonogo.reports.listings import list_gpus

    say(list_gpus(options.names, options.format))
    return 0
