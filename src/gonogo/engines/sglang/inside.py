"""SGLang inside the child: where its configuration is settled, and on what. Imports SGLang only when asked to."""

from __future__ import annotations

import importlib
from typing import Any

from gonogo_inside.processes import Reached  # type: ignore[import-not-found]


def prepare(progress: Any) -> None:
    """Put the edges of the dry run in place: the last check of the server's arguments."""
    made = importlib.import_module("sglang.srt.server_args").ServerArgs
    parse = made.from_cli_args

    def from_cli_args(cls: Any, *args: Any, **kwargs: Any) -> Any:
        del cls
        progress.enter("configuration")
        return parse(*args, **kwargs)

    made.from_cli_args = classmethod(from_cli_args)
    if hasattr(made, "check_server_args"):
        check = made.check_server_args

        def check_server_args(self: Any, *args: Any, **kwargs: Any) -> Any:
            progress.enter("configuration")
            check(self, *args, **kwargs)
            raise Reached("the configuration", self)

        made.check_server_args = check_server_args


def call(target: str, positional: list[Any], arguments: dict[str, Any]) -> None:
    """A Python launch: ``Engine(...)`` or ``ServerArgs(...)``."""
    if target == "ServerArgs":
        made = importlib.import_module("sglang.srt.server_args").ServerArgs(*positional, **arguments)
        if hasattr(made, "resolve_once"):
            made.resolve_once()
        made.check_server_args()
        return
    importlib.import_module("sglang.srt.entrypoints.engine").Engine(*positional, **arguments)


def resolved(config: Any) -> dict[str, Any]:
    """The resolved arguments, simple values only."""
    values = config.resolved_dict() if hasattr(config, "resolved_dict") else dict(vars(config))
    return {name: str(value) for name, value in values.items() if len(str(value)) <= 2000 and " object at 0x" not in str(value)}
