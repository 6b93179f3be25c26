"""A pretend model hub behind the HTTP libraries: it serves the model facts that the dry run was given, and nothing else.

Speaks the hub's protocol as huggingface_hub's client expects it (HEAD and GET /REPO/resolve/REV/FILE with ETag and
X-Repo-Commit, /api/models/REPO and its tree). A repository that nobody gave facts for ends the dry run: the host is asked.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

from .decisions import engine_stack
from .files import read_real, real_size

COMMIT = hashlib.sha1(b"gonogo").hexdigest()


class Hub:
    """``models``: repository → {"files": {name: path}, "listed": [names] or None, "known": False for one that is not there}."""

    def __init__(self, ask: Callable[[str], None]) -> None:
        self.models: dict[str, dict[str, Any]] = {}
        self.ask = ask
        self.wanted: dict[str, bool] = {}
        self.code: set[str] = set()
        self.asked_by: dict[str, list[str]] = {}
        self.touched: set[str] = set()

    def answer(self, method: str, url: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""
        path = unquote(urlsplit(url).path).strip("/")
        if path.startswith("api/models/"):
            return self._api(path.removeprefix("api/models/"))
        repository, found, rest = path.partition("/resolve/")
        if not found:
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        model = self._model(repository)
        if model is None:
            return _missing_repository()
        name = rest.partition("/")[2]
        return self._file(repository, model, name, method)

    def _model(self, repository: str) -> dict[str, Any] | None:
        self.touched.add(repository)
        if repository not in self.models:
            self.ask(repository)
        model = self.models.get(repository)
        return model if model and model.get("known", True) else None

    def _asked(self, what: str, itself: bool = False) -> None:
        """Every function of the engine on whose behalf it was asked for, however often; ``itself``: the one that asked."""
        known = self.asked_by.setdefault(what, [])
        stack = engine_stack()
        known += [function for function in (stack[:1] if itself else stack) if function not in known]

    def _file(
        self, repository: str, model: dict[str, Any], name: str, method: str
    ) -> tuple[int, dict[str, str], bytes]:
        real = model["files"].get(name)
        if name in model.get("assumed", ()):
            self._asked(f"{repository}/{name}")
        if real is None:
            listed = model.get("listed")
            if name.endswith(".py"):
                self.code.add(f"{repository}/{name}")
            unsure = name not in model.get("absent", ()) and (listed is None or name in listed)
            if model.get("stand_in"):  # nobody knows what the model that it stands for has
                self._asked(f"{repository}/{name}", itself=True)
            if unsure:
                self.wanted[f"{repository}/{name}"] = bool(listed and name in listed)
                self._asked(f"{repository}/{name}")
            # A client remembers what a commit surely lacks, and would not ask again: then nobody saw who needs it.
            commit = {} if unsure else {"X-Repo-Commit": COMMIT}
            return 404, {"X-Error-Code": "EntryNotFound", **commit}, b"Entry not found"
        body = read_real(real)
        headers = {
            "ETag": f'"{hashlib.sha1(body).hexdigest()}"',
            "X-Repo-Commit": COMMIT,
            "Content-Length": str(len(body)),
            "Content-Type": "application/octet-stream",
        }
        return 200, headers, b"" if method == "HEAD" else body

    def _api(self, rest: str) -> tuple[int, dict[str, str], bytes]:
        repository, _, after = rest.partition("/tree/")
        repository = repository.partition("/revision/")[0]
        model = self._model(repository)
        if model is None:
            return _missing_repository()
        names = sorted(set(model["files"]) | set(model.get("listed") or ()))
        if model.get("listed") is None:
            self.wanted[f"{repository} (its list of files)"] = False
            self._asked(f"{repository} (its list of files)")
        elif model.get("stand_in"):
            self._asked(f"{repository} (its list of files)", itself=True)
        if after:
            rows = [{"type": "file", "path": name, "size": _size(model, name), "oid": COMMIT} for name in names]
            return _json(rows)
        return _json(
            {
                "_id": "0",
                "id": repository,
                "modelId": repository,
                "sha": COMMIT,
                "private": False,
                "disabled": False,
                "gated": False,
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "library_name": "transformers",
                "siblings": [{"rfilename": name} for name in names],
            }
        )


def _size(model: dict[str, Any], name: str) -> int:
    real = model["files"].get(name)
    return real_size(real) if real else 0


def _json(value: Any) -> tuple[int, dict[str, str], bytes]:
    body = json.dumps(value).encode()
    return 200, {"Content-Type": "application/json", "Content-Length": str(len(body))}, body


def _missing_repository() -> tuple[int, dict[str, str], bytes]:
    body = b'{"error":"Repository not found"}'
    return (
        401,
        {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository Not Found", "Content-Type": "application/json"},
        body,
    )


def is_hub(url: str) -> bool:
    """Is this address the hub's, as the world's environment names it?"""
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    return urlsplit(url).netloc == urlsplit(endpoint).netloc


def after_httpx(hub: Hub) -> Callable[[ModuleType], None]:
    """Answer in place of httpx's transports."""

    def then(m: ModuleType) -> None:
        httpx: Any = m

        def respond(request: Any) -> Any:
            url = str(request.url)
            if not is_hub(url):
                raise httpx.ConnectError("[Errno 111] Connection refused", request=request)
            status, headers, body = hub.answer(request.method, url)
            return httpx.Response(status, headers=headers, content=body or None, request=request)

        async def respond_async(_self: Any, request: Any) -> Any:
            return respond(request)

        httpx.HTTPTransport.handle_request = lambda _self, request: respond(request)
        httpx.AsyncHTTPTransport.handle_async_request = respond_async

    return then


def after_requests(hub: Hub) -> Callable[[ModuleType], None]:
    """Answer in place of requests' adapter."""

    def then(m: ModuleType) -> None:
        adapters: Any = m

        def send(self: Any, request: Any, **_kwargs: Any) -> Any:
            import io

            import requests
            from requests.structures import CaseInsensitiveDict

            if not is_hub(request.url):
                raise requests.exceptions.ConnectionError("Connection refused", request=request)
            status, headers, body = hub.answer(request.method, request.url)
            response = requests.Response()
            response.status_code, response.url, response.request = status, request.url, request
            response.headers = CaseInsensitiveDict(headers)
            response.raw = io.BytesIO(body)
            response.encoding = "utf-8"
            return response

        adapters.HTTPAdapter.send = send

    return then
