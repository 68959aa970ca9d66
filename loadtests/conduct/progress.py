"""Follows the rows of a drill while they are written, and says now and then how it goes."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from loadtests.domain.rows import Kind, Row, row_of
from loadtests.domain.spread import spread_of
from loadtests.run_folder import RunFolder


class Progress:
    """`planned` are all messages of the timetable. `clock` tells drill seconds since the bell."""

    def __init__(self, folder: RunFolder, *, planned: int, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._planned = planned
        self._clock = clock
        self._read: dict[Path, int] = {}
        self._since: list[float] = []
        self._kinds: Counter[Kind] = Counter()
        self.failures: Counter[str] = Counter()
        self.turns = 0
        self.refused = 0

    def follow(self) -> int:
        """Read what has been written since; how many rows that were."""
        rows = [row for file in self._folder.all_rows() for row in self._new(file)]
        for row in rows:
            self._count(row)
        return len(rows)

    def told(self) -> str:
        """One line; the times of first texts are those of turns since the line before."""
        at = self._clock()
        where = f"{-at:.0f} s to the bell" if at < 0 else f"{at:.0f} s"
        parts = [where, f"{self.turns} of {self._planned} turns"]
        parts += [f"{self.refused} refused as they had to be"] if self.refused else []
        opened, closed = self._kinds[Kind.OPEN], self._kinds[Kind.CLOSE]
        parts += [f"{opened - closed} in session"] if opened > closed else []
        parts += [f"first text p95 {spread_of(self._since).p95:.2f} s"] if self._since else []
        failed = sum(self.failures.values())
        parts.append(f"{failed} failed" if not failed else f"{failed} failed ({_few(self.failures)})")
        self._since = []
        return ", ".join(parts)

    def _count(self, row: Row) -> None:
        self._kinds[row.kind] += 1
        if row.failure is not None:
            self.failures[row.failure] += 1
        self.refused += row.was_refused
        if row.kind is Kind.TURN:
            self.turns += 1
            self._since += [row.ttft_s] if row.ttft_s is not None else []

    def _new(self, file: Path) -> list[Row]:
        with file.open("rb") as rows:
            rows.seek(self._read.get(file, 0))
            text = rows.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read[file] = self._read.get(file, 0) + len(whole)
        return [row_of(line) for line in whole.decode().splitlines() if line]


def _few(failures: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in failures.most_common(3))
