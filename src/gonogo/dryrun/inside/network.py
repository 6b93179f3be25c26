"""The network of the world: ports can be bound and nobody answers; the only thing out there is a pretend hub."""

from __future__ import annotations

import contextlib
import errno
import itertools
import socket
import weakref
from typing import Any


class _Ports:
    """The ports that the system gives to those who ask for any."""

    first = 40000
    given = itertools.count(first)


def restart() -> None:
    """Begin anew, as every dry run does."""
    _Ports.given = itertools.count(_Ports.first)


def install(host: dict[str, Any]) -> None:
    """Make sockets pretend: binding always works, connecting never does (a datagram socket learns its own address)."""
    _sockets(host)
    _names(host)


def _sockets(host: dict[str, Any]) -> None:
    bound: weakref.WeakKeyDictionary[socket.socket, Any] = weakref.WeakKeyDictionary()

    def address(name: Any) -> Any:
        if not isinstance(name, tuple):
            return name
        port = name[1] or next(_Ports.given)
        return (name[0] or "0.0.0.0", port, *name[2:])

    def bind(self: socket.socket, name: Any) -> None:
        bound[self] = address(name)

    def getsockname(self: socket.socket) -> Any:
        return bound.get(self, ("0.0.0.0", 0))

    def getpeername(_self: socket.socket) -> Any:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    def connect(self: socket.socket, name: Any) -> None:
        if self.type == socket.SOCK_DGRAM and isinstance(name, tuple):
            bound[self] = (host["ip"] if self.family == socket.AF_INET else "::1", next(_Ports.given), *name[2:])
            return
        raise OSError(errno.ECONNREFUSED, "Connection refused")

    sock: Any = socket.socket
    sock.bind, sock.getsockname, sock.getpeername, sock.connect = bind, getsockname, getpeername, connect
    sock.connect_ex = lambda self, _name: errno.ECONNREFUSED
    sock.listen = lambda self, *_a: None
    sock.sendto = lambda self, data, *_a: len(data)


def after_zmq(module: Any) -> None:
    """ZeroMQ's sockets that leave the process: they can be bound and connected, as real ones before anybody answers."""
    for name in ("bind", "connect"):
        setattr(module.Socket, name, _within(getattr(module.Socket, name)))


def _within(ordinary: Any) -> Any:
    def reach(self: Any, address: Any) -> Any:
        if str(address).startswith("inproc:"):
            return ordinary(self, address)
        return contextlib.nullcontext(self)

    return reach


def _names(host: dict[str, Any]) -> None:
    here: dict[str, str] = {"localhost": "127.0.0.1", host["hostname"]: host["ip"], "": "0.0.0.0"}

    def resolve(name: Any) -> str:
        text: str = name.decode() if isinstance(name, bytes) else name or ""
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

    def gethostbyaddr(name: Any) -> tuple[str, list[str], list[str]]:
        found = resolve(name)
        known = next((each for each, address in here.items() if address == found and each), None)
        if known is None:
            raise socket.herror(1, "Unknown host")
        return known, [], [found]

    socket.getaddrinfo = getaddrinfo  # type: ignore[assignment]
    socket.gethostbyname = resolve
    socket.gethostbyname_ex = lambda name: (name, [], [resolve(name)])
    socket.gethostbyaddr = gethostbyaddr
    socket.getnameinfo = lambda where, _flags: (str(where[0]), str(where[1]))
    socket.if_nameindex = lambda: [(1, "lo"), (2, "eth0")]
    socket.has_dualstack_ipv6 = lambda: True
