"""Weights in a folder of this machine: fetched once, held against their digest, and never half.

The mark says which weights the folder is for and, at the end, that all are there: who starts next only compares sizes.
One process at a time works on a folder; others wait for it. Other weights than those of the mark are never written
over.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from router.fleet.adapters.weights_download import PARTIAL, Downloads, Progress
from router.fleet.domain.weights_list import LIST_NAME, WeightsList
from router.fleet.errors import WeightsUnusable
from router.fleet.ports import WeightsSource

MARK: Final = ".weights.json"
LOCK: Final = ".lock"
_LOOK_EVERY_S: Final = 0.1


def _nobody(_done: int, _total: int) -> None:
    pass


class WeightsCache:
    """`pause_s` lies between two tries to reach a source that was lost. It blocks, and belongs into a thread."""

    def __init__(self, *, source: WeightsSource, folder: Path, digest: str, pause_s: float = 2.0) -> None:
        self._source = source
        self._folder = folder
        self._digest = digest
        self._pause_s = pause_s

    def is_there(self) -> bool:
        """Whether all is there, by the mark and the sizes; nothing is asked of the source."""
        mark = self._mark()
        return mark.get("digest") == self._digest and self._is_whole(mark)

    def ensure(self, *, told: Progress = _nobody, verify: bool = False) -> None:
        """Have all of it there; `verify`: read every byte that is. Raises `WeightsUnusable`."""
        with _in_our_words():
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._alone(told):
                held = self._mark().get("digest", self._digest)
                if held != self._digest:
                    raise WeightsUnusable(f"{self._folder} is for other weights, {held}; name another folder")
                if verify or not self.is_there():
                    self._fetch(told)

    def _fetch(self, told: Progress) -> None:
        listed = self._source.files()
        if listed.digest != self._digest:
            raise WeightsUnusable(f"the source lists weights with the digest {listed.digest}, not {self._digest}")
        self._write_mark(None)
        total = sum(file.size or 0 for file in listed.files)
        downloads = Downloads(source=self._source, folder=self._folder, total=total, told=told, pause_s=self._pause_s)
        missing = [file for file in listed.files if not downloads.has(file)]
        self._check_room(sum((file.size or 0) - downloads.begun(file) for file in missing))
        for file in missing:
            downloads.get(file)
        shutil.rmtree(self._folder / PARTIAL, ignore_errors=True)
        (self._folder / LIST_NAME).write_text(listed.text)
        self._write_mark(listed)

    def _check_room(self, needed: int) -> None:
        free = shutil.disk_usage(self._folder).free
        if needed > free:
            raise WeightsUnusable(f"the weights need {needed:,} bytes more, and {free:,} are free on the disk")

    def _is_whole(self, mark: dict[str, object]) -> bool:
        sizes = mark.get("sizes")
        return isinstance(sizes, dict) and all(_size(self._folder / path) == size for path, size in sizes.items())

    def _mark(self) -> dict[str, object]:
        """Nothing where there is none that can be read: then every file that is there is read instead."""
        try:
            mark = json.loads((self._folder / MARK).read_bytes())
        except (OSError, ValueError):
            return {}
        return mark if isinstance(mark, dict) else {}

    def _write_mark(self, listed: WeightsList | None) -> None:
        """`listed`: what is all there; None: not all is."""
        mark: dict[str, object] = {"digest": self._digest}
        if listed is not None:
            mark["sizes"] = {file.path: _size(self._folder / file.path) for file in listed.files}
        place = self._folder / MARK
        new = place.with_suffix(".new")
        with new.open("w") as written:
            json.dump(mark, written)
            written.flush()
            os.fsync(written.fileno())
        new.replace(place)

    @contextmanager
    def _alone(self, told: Progress) -> Iterator[None]:
        with (self._folder / LOCK).open("w") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    told(0, 0)
                    time.sleep(_LOOK_EVERY_S)
                else:
                    break
            yield


def _size(place: Path) -> int | None:
    try:
        return place.stat().st_size
    except OSError:
        return None


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WeightsUnusable(f"the folder of the weights cannot be used: {error.strerror}") from error
