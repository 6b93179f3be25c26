"""A package index on this machine, made of tiny archives, that can be told to misbehave."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def sdist(
    name: str,
    version: str,
    files: dict[str, bytes],
    *,
    requires: tuple[str, ...] = (),
    python: str = ">=3.8",
    extra: tuple[tarfile.TarInfo, ...] = (),
) -> bytes:
    """A .tar.gz as a build backend makes it; ``extra`` members are put in as they are."""
    top = f"{name}-{version}"
    metadata = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", f"Requires-Python: {python}"]
    metadata += [f"Requires-Dist: {one}" for one in requires]
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for path, data in {"PKG-INFO": "\n".join([*metadata, "", ""]).encode(), **files}.items():
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size, member.mtime = len(data), 1_750_000_000
            tar.addfile(member, io.BytesIO(data))
        for member in extra:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return content.getvalue()


def wheel(
    name: str,
    version: str,
    files: dict[str, bytes],
    *,
    requires: tuple[str, ...] = (),
    python: str = ">=3.8",
    tag: str = "py3-none-any",
    forged: dict[str, bytes] | None = None,
) -> bytes:
    """A wheel, with a true RECORD but for what is ``forged``: files that hold something else than RECORD says."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Requires-Python: {python}"]
    metadata += [f"Requires-Dist: {one}" for one in requires]
    members = {
        **files,
        f"{folder}/METADATA": "\n".join([*metadata, "", ""]).encode(),
        f"{folder}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }
    record = "".join(f"{path},{_digest(data)},{len(data)}\n" for path, data in members.items()) + f"{folder}/RECORD,,\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, data in {**members, **(forged or {}), f"{folder}/RECORD": record.encode()}.items():
            archive.writestr(path, data)
    return content.getvalue()


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@dataclass
class Entry:
    """One file as the index lists it."""

    filename: str
    content: bytes
    uploaded: str | None = "2026-01-05T12:00:00Z"
    yanked: bool = False
    python: str = ">=3.8"
    sha256: str | None = None
    """What the index claims; None: the truth."""
    digests: bool = True
    metadata_sha256: str | None = None


@dataclass
class Gate:
    """Holds up the second half of a file until it is opened; ``reached`` is set once the first half is sent."""

    reached: threading.Event = field(default_factory=threading.Event)
    open: threading.Event = field(default_factory=threading.Event)


class PackageIndex:
    """Serves projects over the simple API in its JSON form, on a port of 127.0.0.1."""

    def __init__(self) -> None:
        self.projects: dict[str, list[Entry]] = {}
        self.asked: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        """Bytes of each file, headers not counted."""
        self.ranges = True
        """Whether parts of files can be had."""
        self.gates: dict[str, Gate] = {}
        self.status: int | None = None
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index._answer(self)

            def do_HEAD(self) -> None:
                index._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self._up = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/simple/"

    def add(self, project: str, filename: str, content: bytes, **facts: Any) -> Entry:
        entry = Entry(filename, content, **facts)
        self.projects.setdefault(project, []).append(entry)
        return entry

    def hold(self, filename: str) -> Gate:
        """Hold up ``filename`` when it is asked for."""
        return self.gates.setdefault(filename, Gate())

    def go_down(self) -> None:
        if self._up:
            self._up = False
            for gate in self.gates.values():
                gate.open.set()
            self._server.shutdown()
            self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        parts = request.path.strip("/").split("/")
        if self.status is not None:
            request.send_error(self.status)
        elif parts[0] == "simple" and len(parts) == 2 and parts[1] in self.projects:
            self.asked[parts[1]] += 1
            self._send(request, json.dumps(self._page(parts[1])).encode(), "application/vnd.pypi.simple.v1+json")
        elif parts[0] == "files" and (entry := self._entry(parts[1], parts[2])):
            if request.command == "GET":
                self.asked[entry.filename] += 1
            if self.ranges and (part := request.headers.get("Range")):
                self._send_part(request, entry, part)
                return
            self.sent[entry.filename] += len(entry.content)
            self._send(request, entry.content, "application/octet-stream", self.gates.get(entry.filename))
        else:
            request.send_error(404)

    def _send_part(self, request: BaseHTTPRequestHandler, entry: Entry, part: str) -> None:
        first, last = part.removeprefix("bytes=").split("-")
        size = len(entry.content)
        start = int(first) if first else max(0, size - int(last))
        end = min(size, int(last) + 1) if first and last else size
        content = entry.content[start:end]
        self.sent[entry.filename] += len(content)
        request.send_response(206)
        request.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _entry(self, project: str, filename: str) -> Entry | None:
        return next((entry for entry in self.projects.get(project, []) if entry.filename == filename), None)

    def _page(self, project: str) -> dict[str, Any]:
        files = []
        for entry in self.projects[project]:
            truth = hashlib.sha256(entry.content).hexdigest()
            file: dict[str, Any] = {
                "filename": entry.filename,
                "url": f"/files/{project}/{entry.filename}",
                "hashes": {"sha256": entry.sha256 or truth} if entry.digests else {},
                "requires-python": entry.python,
                "size": len(entry.content),
                "yanked": entry.yanked,
            }
            if entry.metadata_sha256:
                file["core-metadata"] = {"sha256": entry.metadata_sha256}
            if entry.uploaded:
                file["upload-time"] = entry.uploaded
            files.append(file)
        return {"meta": {"api-version": "1.1"}, "name": project, "files": files, "versions": []}

    def _send(self, request: BaseHTTPRequestHandler, content: bytes, kind: str, gate: Gate | None = None) -> None:
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        if request.command == "HEAD":
            return
        try:
            if gate is not None:
                half = len(content) // 2
                request.wfile.write(content[:half])
                request.wfile.flush()
                gate.reached.set()
                gate.open.wait(60)
                content = content[half:]
            request.wfile.write(content)
        except OSError:
            pass  # whoever asked is gone
