"""SGLang inside the child: where its configuration is settled, and on what. Imports SGLang only when asked to."""

from __future__ import annotations

import importlib
from typing import Any

from gonogo_inside.processes import Reached  # type: ignore[import-not-found]


def prepare(progress: Any) -> None:
    """Put the edge of the dry run in place: the settled and checked arguments.

    The server checks them right after they are settled, behind the import of all that serves; those checks are called
    here without that import.
    """
    made = importlib.import_module("sglang.srt.server_args").ServerArgs
    settle = made.resolve_once if hasattr(made, "resolve_once") else None
    check = made.check_server_args

    def resolve_once(self: Any, *args: Any, **kwargs: Any) -> Any:
        progress.enter("configuration")
        assert settle is not None
        settle(self, *args, **kwargs)
        check(self)
        raise Reached("the configuration", self)

    def check_server_args(self: Any, *args: Any, **kwargs: Any) -> Any:
        progress.enter("configuration")
        check(self, *args, **kwargs)
        raise Reached("the configuration", self)

    if settle is not None:
        made.resolve_once = resolve_once
    else:
        made.check_server_args = check_server_args


def call(target: str, positional: list[Any], arguments: dict[str, Any]) -> None:
    """A Python launch: ``Engine(...)`` or ``ServerArgs(...)``."""
    made = importlib.import_module("sglang.srt.server_args").ServerArgs
    if target == "ServerArgs":
        settled = made(*positional, **arguments)
        settled.resolve_once() if hasattr(made, "resolve_once") else settled.check_server_args()
        return
    importlib.import_module("sglang.srt.entrypoints.engine").Engine(*positional, **arguments)


def resolved(config: Any) -> dict[str, Any]:
    """The resolved arguments, simple values only."""
    values = config.resolved_dict() if hasattr(config, "resolved_dict") else dict(vars(config))
    return {
        name: str(value)
        for name, value in values.items()
        if len(str(value)) <= 2000 and " object at 0x" not in str(value)
    }
