"""The one line of a log that tells a person why a process ended."""

import re
from pathlib import Path

_READ_BYTES = 64 * 1024
_TELLING = re.compile(r"error|fatal|panic|cannot|could not|failed|no space|denied|killed", re.IGNORECASE)
_POINTS_ELSEWHERE = re.compile(r"see (root cause|stack trace|the log)|for further information", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST = 300


def last_meaningful_line(log: Path, *, since: int = 0) -> str:
    """The last line that speaks of a failure, else the last line at all; `since` skips what earlier runs wrote."""
    lines = _lines(log, _READ_BYTES, since)
    telling = [line for line in lines if _TELLING.search(line) and not _POINTS_ELSEWHERE.search(line)]
    chosen = (telling or lines or ["it wrote nothing to its log"])[-1]
    return chosen if len(chosen) <= _LONGEST else chosen[: _LONGEST - 1] + "…"


def tells_of_a_full_disk(log: Path, *, since: int = 0) -> bool:
    """Programs often say it first and then fail of something that follows from it."""
    return any("no space left" in line.lower() for line in _lines(log, _READ_BYTES, since))


def last_line(log: Path) -> str:
    """What a running program said last."""
    lines = _lines(log, 2048, 0)
    return lines[-1] if lines else ""


def _lines(log: Path, size_bytes: int, since: int) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(since, log.stat().st_size - size_bytes))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return [line for raw in text.splitlines() if (line := _COLOUR.sub("", raw).strip())]
