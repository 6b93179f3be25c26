"""A file on a server, read in pieces by HTTP range requests, like a file on disk.

What is to be read can be planned: pieces near to each other come in one request. (remotezip, which reads zips so, asks
once for every member; a wheel has thousands.)
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import requests

_TIMEOUT = (10, 60)  # seconds to connect, and between two pieces
_LEAST = 64 << 10  # bytes of a request that nobody planned
_GAP = 64 << 10  # bytes that are fetched in vain rather than asked around
_MOST = 8 << 20  # bytes of a planned request, and so about what is held in memory


class NoRanges(Exception):
    """The server sends whole files only, or will not send this one."""


class RangedFile(io.RawIOBase):
    """The file at ``url``, read only. ``size`` is what it has to measure, None: whatever it does.

    Reading raises NoRanges, requests.RequestException, or ValueError where the server sends something else than was
    asked for.
    """

    def __init__(self, session: requests.Session, url: str, size: int | None = None) -> None:
        """Asks for the end of the file at once."""
        self._session, self._url, self._size = session, url, size
        self._planned: list[tuple[int, int]] = []
        self._at = 0
        self.fetched = 0
        start, self._end_piece = self._fetch(f"bytes=-{_LEAST}")
        self._pieces = [(start, self._end_piece)]

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        assert self._size is not None
        return self._size

    def plan(self, ranges: Iterable[tuple[int, int]]) -> int:
        """Say which bytes (from, up to) will be read; how many bytes will be fetched for that."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted(ranges):
            if merged and start - merged[-1][1] <= _GAP and end - merged[-1][0] <= _MOST:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        self._planned = merged
        return sum(end - start for start, end in merged)

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read at any place."""
        return True

    def tell(self) -> int:
        """The place at which is read next."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Choose the place at which is read next."""
        self._at = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence] + offset
        if self._at < 0:
            raise ValueError("a place before the beginning of the file")
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read on from there, as much as the buffer holds."""
        wanted = max(0, min(len(buffer), self.size - self._at))
        if wanted:
            start, piece = self._piece(self._at, self._at + wanted)
            buffer[:wanted] = piece[self._at - start : self._at - start + wanted]
            self._at += wanted
        return wanted

    def _piece(self, start: int, end: int) -> tuple[int, bytes]:
        """A piece that holds these bytes, and where it begins."""
        for at, piece in self._pieces:
            if at <= start and end <= at + len(piece):
                return at, piece
        planned = next((one for one in self._planned if one[0] <= start and end <= one[1]), None)
        first, last = planned or (start, min(self.size, max(end, start + _LEAST)))
        found = self._fetch(f"bytes={first}-{last - 1}")
        if found[0] != first or len(found[1]) != last - first:
            raise ValueError("the server sends other bytes than it was asked for")
        self._pieces = [self._pieces[0], found]  # the end, where a zip's directory stands, and the last one
        return found

    def _fetch(self, asked: str) -> tuple[int, bytes]:
        headers = {"Range": asked, "Accept-Encoding": "identity"}
        with self._session.get(self._url, headers=headers, stream=True, timeout=_TIMEOUT) as answer:
            if 400 <= answer.status_code < 500:
                raise NoRanges
            answer.raise_for_status()
            said = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", answer.headers.get("Content-Range", "").strip())
            if answer.status_code != 206 or said is None:
                raise NoRanges
            start, last, size = (int(number) for number in said.groups())
            content = b"".join(answer.iter_content(1 << 16))
        if (self._size is not None and size != self._size) or len(content) != last + 1 - start:
            raise ValueError("the server sends something else than the package index promised")
        self._size = size
        self.fetched += len(content)
        return start, content
