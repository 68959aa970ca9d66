"""What one worker keeps of a drill: a row for each request, as it ends, and how late its own loop was woken."""

import time
from collections import Counter
from typing import TextIO

import gevent

from loadtests.domain.client_lag import LAG_EVERY_S
from loadtests.domain.rows import Row
from loadtests.domain.server import LagSample
from loadtests.histograms import Histograms
from loadtests.run_files import line_of, write_object
from loadtests.run_folder import RunFolder
from loadtests.users.clock import DrillClock


class Book:
    """Rows are on disk as soon as they are written, so that a worker that is killed has lost none."""

    def __init__(self, folder: RunFolder, *, worker: int) -> None:
        self.worker = worker
        self._folder = folder
        self._rows: TextIO = folder.rows_of(worker).open("a", encoding="utf-8")
        self._histograms = Histograms()
        self._trouble: Counter[str] = Counter()

    def write(self, row: Row) -> None:
        if self._rows.closed:
            return  # a run that is ended from outside closes its books while trainees still speak
        self._rows.write(row.as_json() + "\n")
        self._rows.flush()
        self._histograms.record(row)

    def trouble(self, kind: str) -> None:
        """Something of the client's own went wrong, so that its figures are not to be trusted."""
        self._trouble[kind] += 1

    def close(self) -> None:
        self._rows.close()
        self._histograms.write(self._folder.histograms_of(self.worker))
        write_trouble(self._folder, str(self.worker), self._trouble)


def write_trouble(folder: RunFolder, name: str, kinds: Counter[str]) -> None:
    """Written at the end in any case: where it is missing, the worker did not come to its end."""
    write_object(folder.path / f"trouble-{name}.json", dict(kinds))


def watch_lag(folder: RunFolder, clock: DrillClock, *, worker: int) -> None:
    """Sleeps for a moment and tells how much longer it took, for ever."""
    with folder.lag_of(worker).open("a", encoding="utf-8") as out:
        while True:
            due = time.perf_counter() + LAG_EVERY_S
            gevent.sleep(LAG_EVERY_S)
            now = time.perf_counter()
            out.write(line_of(LagSample(clock.at(now), worker, max(0.0, now - due))))
            out.flush()
