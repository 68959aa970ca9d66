"""The one line of a log that tells a person why a process ended."""

import re
from pathlib import Path

_READ_BYTES = 64 * 1024
_TELLING = re.compile(r"error|fatal|panic|cannot|could not|failed|no space|denied|killed", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST = 300


def last_meaningful_line(log: Path) -> str:
    """The last line that speaks of a failure, else the last line at all."""
    lines = [line for raw in _tail(log).splitlines() if (line := _COLOUR.sub("", raw).strip())]
    telling = [line for line in lines if _TELLING.search(line)]
    chosen = (telling or lines or ["it wrote nothing to its log"])[-1]
    return chosen if len(chosen) <= _LONGEST else chosen[: _LONGEST - 1] + "…"


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _READ_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
