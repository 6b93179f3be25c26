"""Hosts: the kinds of machine that come with gonogo, and hosts that a user describes in a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from gonogo.hardware.types import Host
from gonogo.problems import OwnProblem, UsageProblem

_HOSTS_FILE = Path(__file__).parent / "hosts.toml"
_KINDS = {field.name: str(field.type) for field in fields(Host)}
# A machine that has just booted into a server's job keeps about this share of its memory for itself: one twentieth.
_KEPT = 20
_LARGEST = 1 << 62


@cache
def known_hosts() -> Mapping[str, Host]:
    """The kinds of machine that hosts.toml describes, by name. Raises OwnProblem when that file is damaged."""
    try:
        table = tomllib.loads(_HOSTS_FILE.read_text(encoding="utf-8"))
        hosts = {}
        for name, row in table.items():
            if not isinstance(row.pop("source", None), str):
                raise UsageProblem(f"host {name!r} has no source")
            hosts[name] = _changed(Host(), row)
        return hosts
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError, UsageProblem) as error:
        raise OwnProblem(f"gonogo's own {_HOSTS_FILE.name} is damaged ({error}): install gonogo again") from error


def host_named(name: str) -> Host:
    """The kind of machine called ``name``. Raises UsageProblem for one that gonogo does not know."""
    hosts = known_hosts()
    if name not in hosts:
        raise UsageProblem(f"unknown host {name[:60]!r}: gonogo knows {', '.join(sorted(hosts))}")
    return hosts[name]


def host_from_toml(path: Path, base: Host | None = None) -> Host:
    """A host as a TOML file describes it, with the fields of ``Host`` as keys.

    What the file leaves out is as in the kind of machine that its key ``base`` names, else as in the argument, else as
    in ``Host()``. A file that changes ``ram_bytes`` alone gets 95 % of it as ``available_ram_bytes``. Raises
    UsageProblem for a file that cannot be read, is not TOML, or has an unknown key or an impossible value.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageProblem(f"cannot read the host file {str(path)!r}: {error}") from error
    named = table.pop("base", None)
    if named is not None:
        if not isinstance(named, str):
            raise UsageProblem(f"host file {str(path)!r}: base is the name of a host, not {named!r}")
        base = host_named(named)
    try:
        return _changed(base or Host(), table)
    except UsageProblem as problem:
        raise UsageProblem(f"host file {str(path)!r}: {problem}") from problem


def _changed(base: Host, changes: Mapping[str, Any]) -> Host:
    values: dict[str, Any] = {}
    for key, value in changes.items():
        if key not in _KINDS:
            close = get_close_matches(key, _KINDS, 1)
            hint = f"is it {close[0]}?" if close else f"use {', '.join(_KINDS)}"
            raise UsageProblem(f"unknown key {key!r}: {hint}")
        values[key] = _checked(key, value)
    if "ram_bytes" in values and "available_ram_bytes" not in values:
        values["available_ram_bytes"] = values["ram_bytes"] - values["ram_bytes"] // _KEPT
    host = replace(base, **values)
    if host.available_ram_bytes > host.ram_bytes:
        raise UsageProblem(
            f"available_ram_bytes ({host.available_ram_bytes}) is more than ram_bytes ({host.ram_bytes})"
        )
    if host.open_files_soft > host.open_files_hard:
        limits = f"open_files_soft ({host.open_files_soft}) is more than open_files_hard ({host.open_files_hard})"
        raise UsageProblem(limits)
    return host


def _checked(key: str, value: object) -> object:
    kind = _KINDS[key]
    if kind == "int":
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST:
            return value
        raise UsageProblem(f"{key} is a whole number above 0, not {value!r}")
    if kind == "str":
        if isinstance(value, str) and value and value.isprintable():
            return value
        raise UsageProblem(f"{key} is a text of one line, not {value!r}")
    if isinstance(value, list) and all(isinstance(word, str) and word for word in value):
        return tuple(value)
    raise UsageProblem(f"{key} is a list of words, not {value!r}")
