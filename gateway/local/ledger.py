"""The note on disk of what runs, by which the start after a SIGKILL finds and ends what that left behind.

A process is known by its number *and* the moment it began, so a stranger who got the number later is never touched.
Every process of a child's group is noted, not the leader alone: a leader may have died before its descendants.
"""

import json
import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from gateway.local import process_table
from gateway.local.private_file import write_private
from gateway.local.process import POLL_S, Child
from gateway.local.process_table import Entry

_GRACE_S = 15.0
_KILLED_WITHIN_S = 5.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Noted:
    name: str
    pid: int
    group: int
    started: int
    stop_signal: int  # what its leader likes to be stopped by


class Ledger:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._written: tuple[Noted, ...] | None = None

    def note(self, children: Sequence[Child]) -> None:
        """Write down the children and whoever else is in their groups by now."""
        leaders = {child.pid: child.command for child in children}
        noted = tuple(
            Noted(leaders[one.group].name, one.pid, one.group, one.started, int(leaders[one.group].stop_signal))
            for one in process_table.living()
            if one.group in leaders
        )
        if noted != self._written:
            self._write(noted)

    def end_leftovers(self) -> tuple[str, ...]:
        """End the groups of an earlier run that still live; returns their names."""
        noted = self._read()
        groups = _groups_of(noted, process_table.living())
        likes = {one.group: one.stop_signal for one in noted}
        for group in groups:
            _signal(group, likes[group])
        for group in _left(noted, within_s=_GRACE_S):
            _signal(group, signal.SIGKILL)
        _left(noted, within_s=_KILLED_WITHIN_S)
        self._write(())
        return tuple(sorted({one.name for one in noted if one.group in groups}))

    def _write(self, noted: tuple[Noted, ...]) -> None:
        rows = [asdict(one) for one in noted]
        write_private(self._file, json.dumps({"boot": _boot(), "processes": rows}, indent=2))
        self._written = noted

    def _read(self) -> tuple[Noted, ...]:
        try:
            content = json.loads(self._file.read_text())
            if content["boot"] != _boot():
                return ()
            return tuple(
                Noted(str(row["name"]), *(int(row[key]) for key in ("pid", "group", "started", "stop_signal")))
                for row in content["processes"]
            )
        except (OSError, ValueError, KeyError, TypeError):
            # Absent on the first start; a note that cannot be read cannot be acted on either.
            return ()


def _left(noted: tuple[Noted, ...], *, within_s: float) -> frozenset[int]:
    """The groups that have not ended after so long."""
    deadline = time.monotonic() + within_s
    while (groups := _groups_of(noted, process_table.living())) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return groups


def _groups_of(noted: Iterable[Noted], living: Iterable[Entry]) -> frozenset[int]:
    """The noted groups in which at least one of the very processes noted still lives."""
    known = {(one.pid, one.group, one.started) for one in noted}
    return frozenset(one.group for one in living if (one.pid, one.group, one.started) in known)


def _signal(group: int, what: int) -> None:
    with suppress(ProcessLookupError):  # it ended between the look and the signal
        os.killpg(group, what)


def _boot() -> str:
    return _BOOT_ID.read_text().strip()
