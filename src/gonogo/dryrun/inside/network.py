"""The network of the world: ports can be bound and nobody answers; the only thing out there is a pretend hub."""

from __future__ import annotations

import errno
import socket
from typing import Any


def install(host: dict[str, Any]) -> None:
    """Make sockets pretend: binding always works, connecting never does (a datagram socket learns its own address)."""
    bound: dict[int, Any] = {}
    given = iter(range(40000, 60000))

    def address(name: Any) -> Any:
        if not isinstance(name, tuple):
            return name
        port = name[1] or next(given)
        return (name[0] or "0.0.0.0", port, *name[2:])

    def bind(self: socket.socket, name: Any) -> None:
        bound[id(self)] = address(name)

    def getsockname(self: socket.socket) -> Any:
        return bound.get(id(self), ("0.0.0.0", 0))

    def connect(self: socket.socket, name: Any) -> None:
        if self.type == socket.SOCK_DGRAM and isinstance(name, tuple):
            bound[id(self)] = (host["ip"] if self.family == socket.AF_INET else "::1", next(given), *name[2:])
            return
        raise OSError(errno.ECONNREFUSED, "Connection refused")

    def connect_ex(self: socket.socket, name: Any) -> int:
        return errno.ECONNREFUSED

    sock: Any = socket.socket
    sock.bind, sock.getsockname, sock.connect, sock.connect_ex = bind, getsockname, connect, connect_ex
    sock.listen = lambda self, *_a: None
    sock.sendto = lambda self, data, *_a: len(data)
    here = {"localhost": "127.0.0.1", host["hostname"]: host["ip"], "": "0.0.0.0"}

    def resolve(name: Any) -> str:
        text = name.decode() if isinstance(name, bytes) else name or ""
        if text in here:
            return here[text]
        if all(part.isdigit() and int(part) < 256 for part in text.split(".")) and text.count(".") == 3:
            return str(text)
        if ":" in text:
            return str(text)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def getaddrinfo(name: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> list[Any]:
        found = resolve(name)
        six = ":" in found
        number = int(port) if port and str(port).isdigit() else 0
        where = (found, number, 0, 0) if six else (found, number)
        return [(socket.AF_INET6 if six else socket.AF_INET, type or socket.SOCK_STREAM, proto or 6, "", where)]

    socket.getaddrinfo = getaddrinfo  # type: ignore[assignment]
    socket.gethostbyname = resolve
    socket.gethostbyname_ex = lambda name: (name, [], [resolve(name)])
