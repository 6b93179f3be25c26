"""What can go wrong, as one clear line and an exit code; nothing else of gonogo is known here."""

from __future__ import annotations


class Problem(Exception):
    """A failure that a user is told about in one line: what is wrong and what to do.

    ``exit_code`` is what the command line ends with (2 for a mistake in what was asked, 4 for gonogo's own failure).
    """

    exit_code = 4

    def __init__(self, message: str) -> None:
        """``message`` is one line: what is wrong, and what to do about it."""
        super().__init__(" ".join(message.split()))


class UsageProblem(Problem):
    """What was asked for makes no sense or does not exist: an unknown GPU, an empty command, a release nobody made."""

    exit_code = 2


class OwnProblem(Problem):
    """gonogo could not do its work: no network, a full disk, a child that died."""

    exit_code = 4


class ReleaseProblem(OwnProblem):
    """A release that exists but cannot be read or run here: nothing is wrong with the launch, or with this machine."""
