"""Brings one file of weights at a time into a folder: gone on with where it was left, hashed as it is written, named
only once it is right.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from router.fleet.domain.weights_list import WeightsFile
from router.fleet.errors import WeightsUnusable
from router.fleet.ports import WeightsSource

PARTIAL: Final = ".partial"
_PIECE_BYTES: Final = 4 << 20
_TRIES: Final = 5
"""In a row that bring not one byte."""

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are there; both 0 while another process works on the folder. It may raise, and ends
the work so."""


class Downloads:
    def __init__(self, *, source: WeightsSource, folder: Path, total: int, told: Progress, pause_s: float) -> None:
        self._source = source
        self._folder = folder
        self._total = total
        self._told = told
        self._pause_s = pause_s
        self._done = 0

    def has(self, file: WeightsFile) -> bool:
        """Whether it is there, byte for byte; then it is counted."""
        place = self._folder / file.path
        if not place.is_file() or file.size not in (None, place.stat().st_size):
            return False
        hashed = hashlib.sha256()
        for piece in _pieces(place):
            hashed.update(piece)
            self._told(self._done, self._total)
        if hashed.hexdigest() != file.sha256:
            return False
        self._count(place.stat().st_size)
        return True

    def begun(self, file: WeightsFile) -> int:
        """The bytes that are there from an earlier try."""
        partial = self._partial(file)
        return partial.stat().st_size if partial.is_file() else 0

    def get(self, file: WeightsFile) -> None:
        """Raises `WeightsUnusable`, which names the file."""
        partial = self._partial(file)
        partial.parent.mkdir(exist_ok=True)
        was_begun = self.begun(file) > 0
        # What an earlier try left may have been spoilt; what came just now speaks for the source.
        if not (self._download(file, partial) or (was_begun and self._download(file, partial))):
            raise WeightsUnusable(f"{file.path} has other bytes than its digest says")
        place = self._folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        partial.replace(place)

    def _download(self, file: WeightsFile, partial: Path) -> bool:
        """Whether it is right; one that is not is removed."""
        tries, size = 0, -1
        while True:
            try:
                is_right = self._go_on(file, partial)
            except WeightsUnusable as error:
                reached = self.begun(file)
                tries, size = (1 if reached > size else tries + 1), reached
                if not error.may_pass or tries > _TRIES:
                    raise
                time.sleep(self._pause_s)
            else:
                return is_right

    def _go_on(self, file: WeightsFile, partial: Path) -> bool:
        """From what is there to the end. What breaks off leaves what it brought."""
        hashed, before = hashlib.sha256(), self._done
        self._count(0)  # whoever wants no more of it can say so between two tries
        try:
            with partial.open("ab") as written:
                for piece in self._all(file, partial, written.write):
                    hashed.update(piece)
                    self._count(len(piece))
                written.flush()
                os.fsync(written.fileno())
        except WeightsUnusable:
            self._done = before
            raise
        if hashed.hexdigest() == file.sha256:
            return True
        self._done = before
        partial.unlink()
        return False

    def _all(self, file: WeightsFile, partial: Path, write: Callable[[bytes], object]) -> Iterator[bytes]:
        """Every byte of it: those that are there, then those of the source, which are written."""
        size = 0
        for piece in _pieces(partial):
            size += len(piece)
            yield piece
        if file.size is not None and size >= file.size:
            return
        for piece in self._source.read(file, start=size):
            write(piece)
            size += len(piece)
            yield piece
            if file.size is not None and size > file.size:
                return
        if file.size is not None and size < file.size:
            raise WeightsUnusable(f"{file.path} broke off", may_pass=True)

    def _partial(self, file: WeightsFile) -> Path:
        return self._folder / PARTIAL / file.sha256

    def _count(self, size: int) -> None:
        self._done += size
        self._told(self._done, self._total)


def _pieces(place: Path) -> Iterator[bytes]:
    with place.open("rb") as read:
        while piece := read.read(_PIECE_BYTES):
            yield piece
