"""Launches: one server start each, read from the words of a command or from a shell line; one module per format."""

from gonogo.launches.command import read_command, read_line, shell_text
from gonogo.launches.types import Launch, Source

__all__ = ["Launch", "Source", "read_command", "read_line", "shell_text"]
