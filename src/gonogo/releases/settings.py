"""Which package index the user's pip or uv is set to, so that gonogo asks the same one."""

from __future__ import annotations

import configparser
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit


def index_address(environ: Mapping[str, str] | None = None) -> str | None:
    """The address of the default package index where pip or uv is told of one; None: the usual one.

    Asked in this order: uv's variables, pip's variable, uv's files, pip's files. ``environ`` is that of this process
    unless given.
    """
    variables = os.environ if environ is None else environ
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if address := variables.get(name, "").strip():
            # uv allows NAME=ADDRESS
            name_and_address = address.split("=", 1)
            named = len(name_and_address) == 2 and "/" not in name_and_address[0]
            return name_and_address[1] if named else address
    found: str | None = None
    for path in _uv_files(variables):
        found = _from_uv_file(path)
        if found is not None:
            return found
    for path in _pip_files(variables):
        found = _from_pip_file(path) or found
    return found


def shown(address: str) -> str:
    """``address`` without the user and password it may hold."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _uv_files(variables: Mapping[str, str]) -> Iterator[Path]:
    if named := variables.get("UV_CONFIG_FILE"):
        yield Path(named)
        return
    yield _config_home(variables) / "uv" / "uv.toml"
    for folder in variables.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":"):
        yield Path(folder) / "uv" / "uv.toml"
    yield Path("/etc/uv/uv.toml")


def _from_uv_file(path: Path) -> str | None:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text())
    except (OSError, ValueError):
        return None
    indexes = table.get("index")
    for index in indexes if isinstance(indexes, list) else []:
        if isinstance(index, dict) and index.get("default") is True and isinstance(index.get("url"), str):
            return str(index["url"])
    pip = table.get("pip")
    for value in (table.get("index-url"), pip.get("index-url") if isinstance(pip, dict) else None):
        if isinstance(value, str):
            return value
    return None


def _pip_files(variables: Mapping[str, str]) -> Iterator[Path]:
    """Files of pip, the one that has the last word last."""
    chosen = variables.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    for folder in reversed(variables.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")):
        yield Path(folder) / "pip" / "pip.conf"
    yield Path("/etc/pip.conf")
    if sys.platform == "darwin":
        yield Path("/Library/Application Support/pip/pip.conf")
        yield _home(variables) / "Library" / "Application Support" / "pip" / "pip.conf"
    yield _home(variables) / ".pip" / "pip.conf"
    yield _config_home(variables) / "pip" / "pip.conf"
    yield Path(sys.prefix) / "pip.conf"
    if chosen:
        yield Path(chosen)


def _from_pip_file(path: Path) -> str | None:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text())
    except (OSError, ValueError, configparser.Error):
        return None
    for section in ("install", "global"):
        for option in ("index-url", "index_url"):
            if address := parser.get(section, option, fallback="").strip():
                return address
    return None


def _home(variables: Mapping[str, str]) -> Path:
    return Path(variables.get("HOME") or Path.home())


def _config_home(variables: Mapping[str, str]) -> Path:
    return Path(variables.get("XDG_CONFIG_HOME") or _home(variables) / ".config")
