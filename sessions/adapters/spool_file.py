"""A file of spooled turns that is only ever appended to: each line adds a turn or takes one out.

A process holds a lock on its file while it lives. One that starts takes over the files that nobody holds, so turns of a
process that died are written by the next one on the same disk. What was set aside is appended to a file beside it.
"""

import fcntl
import os
from collections.abc import Sequence
from io import FileIO
from pathlib import Path

from sessions.adapters.stored_spooled import packed, unpacked
from sessions.domain.spooled import SpooledTurn


class SpoolFile:
    """Raises `OSError` where the disk does. Nothing in here waits for anybody but the disk."""

    def __init__(self, *, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = folder / f"{name}.spool"
        self._file = _held(self._path)
        self._aside = folder / f"{name}.aside"
        self.found = [*_left(self._file), *self._taken_over(folder)]
        """What earlier processes have left here."""

    def add(self, spooled: SpooledTurn) -> None:
        _append(self._file, packed(spooled))

    def take_out(self, spooled: SpooledTurn, *, is_last: bool) -> None:
        """`is_last`: nothing else waits, so that the file can begin anew."""
        if is_last:
            self._file.truncate(0)
        else:
            _append(self._file, _mark(spooled))

    def set_aside(self, spooled: SpooledTurn) -> None:
        with open(self._aside, "ab", buffering=0, opener=_private) as aside:
            _append(aside, packed(spooled))

    def close(self) -> None:
        self._file.close()

    def _taken_over(self, folder: Path) -> Sequence[SpooledTurn]:
        found: list[SpooledTurn] = []
        for path in sorted(folder.glob("*.spool")):
            if path == self._path:
                continue
            try:
                orphan = _held(path)
            except BlockingIOError:  # its process lives
                continue
            with orphan:
                for spooled in _left(orphan):
                    self.add(spooled)
                    found.append(spooled)
                path.unlink(missing_ok=True)  # another process that starts may have been as fast
        return found


def _held(path: Path) -> FileIO:
    file = open(path, "a+b", buffering=0, opener=_private)  # noqa: SIM115 - whoever asked for it closes it
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise
    return file


def _left(file: FileIO) -> Sequence[SpooledTurn]:
    """A last line that was not written whole was not acknowledged either."""
    file.seek(0)
    left: dict[bytes, SpooledTurn] = {}
    for line in file.read().splitlines():
        if line.startswith(b"-"):
            left.pop(line, None)
        elif (spooled := unpacked(line)) is not None:
            left[_mark(spooled)] = spooled
    return list(left.values())


def _append(file: FileIO, line: bytes) -> None:
    # The line before may have been cut off by a crash or a full disk.
    whole = b"\n" + line + b"\n"
    if file.write(whole) != len(whole):
        raise OSError("the disk took only a part of it")
    os.fsync(file.fileno())


def _mark(spooled: SpooledTurn) -> bytes:
    return f"-{spooled.session.id}:{spooled.turn.number}".encode()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
