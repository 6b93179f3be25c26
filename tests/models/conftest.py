from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_attention_heads": 32}


@dataclass
class Repository:
    """A model on the test's hub: file contents, and who may see it."""

    files: dict[str, bytes]
    token: str | None = None
    gated: bool = False
    revisions: dict[str, dict[str, bytes]] = field(default_factory=dict)
    with_sizes: bool = True

    def at(self, revision: str) -> dict[str, bytes] | None:
        if revision in ("main", commit_of(self.files)):
            return self.files
        for name, files in self.revisions.items():
            if revision in (name, commit_of(files)):
                return files
        return None


def commit_of(files: dict[str, bytes]) -> str:
    return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()


@dataclass
class HubServer:
    """A server that speaks the hub's protocol, with models put into it by the test."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    url: str = ""
    hang: str = ""  # requests whose path contains this get no answer
    status: int = 0  # an answer for everything, for instance 500
    page: bytes = b""  # a web page for everything, as a captive portal gives
    ended: threading.Event = field(default_factory=threading.Event)

    def put(self, name: str, **more: Any) -> Repository:
        files = {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": b"\0" * 4096, "modeling.py": b"boom"}
        self.repositories[name] = Repository(files | more.pop("files", {}), **more)
        return self.repositories[name]

    def answer(self, path: str, token: str | None) -> tuple[int, dict[str, str], bytes]:
        if self.status:
            return self.status, {}, b""
        if self.page:
            return 200, {"Content-Type": "text/html"}, self.page
        if path.startswith("/api/models/"):
            name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            place = "/api/models/{}" + (f"/revision/{revision}" if revision else "")
            revision, file = revision or "main", None
        elif "/resolve/" in path:
            name, _, rest = path.lstrip("/").partition("/resolve/")
            revision, _, file = rest.partition("/")
            place = "/{}/resolve/" + rest
        else:
            return 404, {}, b""
        right = {known.lower(): known for known in self.repositories}.get(name.lower())
        if right is None:
            # The hub does not tell strangers what exists.
            return 404 if token else 401, {"X-Error-Code": "RepoNotFound"}, b"{}"
        if right != name:
            return 307, {"Location": place.format(right)}, b""
        repository = self.repositories[right]
        if repository.token and token != f"Bearer {repository.token}":
            return 401, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b"{}"
        files = repository.at(revision)
        if files is None:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        commit = {"X-Repo-Commit": commit_of(files)}
        if file is None:
            siblings: list[dict[str, Any]] = [{"rfilename": known} for known in files]
            if repository.with_sizes:
                siblings = [{**one, "size": len(files[one["rfilename"]])} for one in siblings]
            info = {"_id": "1", "id": right, "modelId": right, "sha": commit_of(files), "siblings": siblings}
            return 200, {"Content-Type": "application/json"}, json.dumps(info).encode()
        if repository.gated:
            return 403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access to this model is restricted"}, b""
        if file not in files:
            return 404, {"X-Error-Code": "EntryNotFound", **commit}, b""
        return 200, {"ETag": f'"{hashlib.sha1(files[file]).hexdigest()}"', **commit}, files[file]


@pytest.fixture
def hub_server() -> Iterator[HubServer]:
    hub = HubServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.seen.append(f"{self.command} {path}")
            if hub.hang and hub.hang in path:
                hub.ended.wait(60)
            status, headers, body = hub.answer(path, self.headers.get("Authorization"))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield hub
    hub.ended.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def environ(tmp_path: Path, hub_server: HubServer) -> dict[str, str]:
    """A user's environment that knows the test's hub and an empty hub cache, and nothing of this machine."""
    kept = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}  # another huggingface_hub
    user = {"HF_ENDPOINT": hub_server.url, "HF_HOME": str(tmp_path / "hf"), "HOME": str(tmp_path), "NO_PROXY": "*"}
    return user | kept


def write_model(folder: Path, **files: Any) -> Path:
    """A folder with a config.json and ``files``: text, bytes or what JSON is made of, by name with ``__`` for a dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in ({"config__json": CONFIG} | files).items():
        if content is None:
            continue
        path = folder / name.replace("__", ".")
        raw = content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content))
        path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return folder
