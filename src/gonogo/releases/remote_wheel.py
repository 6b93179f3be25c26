"""A wheel on the package index, of which only some files are fetched: its list of files, its RECORD, and what is asked for.

The sha256 that the index gives is that of the whole wheel, and cannot be checked on parts. Checked are its size, the
sha256 of every file that is taken against the wheel's own RECORD, and where the index gives the sha256 of the wheel's
metadata, that. RECORD itself stands and falls with the connection to the index.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from gonogo.problems import OwnProblem
from gonogo.releases.archive import member_of, reading
from gonogo.releases.index import ArchiveFile, connection
from gonogo.releases.ranges import RangedFile
from gonogo.releases.tree import Member

# What only a compiler reads: listed, and left empty.
_FOR_COMPILERS = {".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl"}


class RemoteWheel:
    """``names`` are those of its files, ``digest`` changes with the content of any of them."""

    def __init__(self, file: ArchiveFile, remote: RangedFile, say: Callable[[int, int | None], None]) -> None:
        """``say(done, total)`` is called with bytes as they come. Raises OwnProblem where this is no wheel."""
        self._file, self._remote, self._say = file, remote, say
        self._zip = zipfile.ZipFile(remote)
        infos = {info.filename: info for info in self._zip.infolist()}
        record = next((name for name in infos if name.endswith(".dist-info/RECORD") and name.count("/") == 1), None)
        if record is None:
            raise OwnProblem(f"{file.filename} has no RECORD: its files cannot be checked, not using it")
        content = self._zip.read(record)
        self.digest = hashlib.sha256(content).hexdigest()
        rows = csv.reader(io.StringIO(content.decode()))
        self._hashes = {row[0]: row[1] for row in rows if len(row) == 3 and row[1]}
        found = ((info, member_of(self._zip, info, file.filename)) for info in infos.values())
        self._members = {info.filename: (info, member) for info, member in found if member is not None}
        starts = [info.header_offset for info in infos.values()]
        self._ends = dict(zip(sorted(starts), [*sorted(starts)[1:], self._zip.start_dir], strict=True))

    @property
    def names(self) -> frozenset[str]:
        """The names of its regular files."""
        return frozenset(self._members)

    def has_as(self, name: str, place: Path) -> bool:
        """Whether its file of that ``name`` has the content of ``place``."""
        return self._sha256(name) == hashlib.sha256(place.read_bytes()).digest()

    def members(self, names: Iterable[str]) -> Iterator[Member]:
        """These files, checked against RECORD as they are read, in the order in which they should be read."""
        chosen = sorted((self._members[name] for name in names), key=lambda one: one[0].header_offset)
        wanted = [info.header_offset for info, member in chosen if not _is_left_empty(member)]
        before = self._remote.fetched
        total = self._remote.plan((start, self._ends[start]) for start in wanted)
        for info, member in chosen:
            yield self._checked(info.filename, member)
            self._say(self._remote.fetched - before, total)

    def _checked(self, name: str, member: Member) -> Member:
        def read(size: int) -> bytes:
            content = b"" if _is_left_empty(member) else member.read(size)
            if content and self._sha256(name) != hashlib.sha256(content).digest():
                raise OwnProblem(
                    f"{name} in {self._file.filename} is not what its RECORD says: not using this wheel; try again"
                )
            return content

        return Member(member.name, member.time, member.executable, read)

    def _sha256(self, name: str) -> bytes:
        if name.endswith(".dist-info/METADATA") and name.count("/") == 1 and self._file.metadata_sha256:
            return bytes.fromhex(self._file.metadata_sha256)
        kind, _, value = self._hashes.get(name, "").partition("=")
        return base64.urlsafe_b64decode(value + "==") if kind == "sha256" else b""


def _is_left_empty(member: Member) -> bool:
    return member.is_compiled or PurePosixPath(member.name).suffix in _FOR_COMPILERS


@contextmanager
def remote_wheel(file: ArchiveFile, say: Callable[[int, int | None], None]) -> Iterator[RemoteWheel]:
    """A wheel to read parts of. Raises NoRanges where the index sends whole files only, OwnProblem for all else."""
    with connection() as session, reading(file.filename):
        yield RemoteWheel(file, RangedFile(session, file.url, file.size), say)
