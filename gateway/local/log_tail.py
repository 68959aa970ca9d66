"""The one line of a log that tells a person why a process ended, or what it is doing."""

import json
import re
from pathlib import Path
from typing import NamedTuple

_READ_BYTES = 64 * 1024
_TELLING = re.compile(
    r"error|exception|fatal|panic|cannot|could not|failed|no space|denied|killed|out of memory", re.IGNORECASE
)
_POINTS_ELSEWHERE = re.compile(r"see (root cause|stack trace|the log)|for further information", re.IGNORECASE)
# A traceback quotes the source; such a line names an error that was perhaps never raised, and half of it at that.
_QUOTED_SOURCE = re.compile(r"\s{4}|\s*File \".*\", line \d+|\s*Traceback \(|\s*raise\b")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# What only its makers read: vLLM puts its process in front of a line, then level, time and module; torch has a way of
# its own.
_PREFIX = re.compile(
    r"(?:\([\w.-]+(?: [\w.-]+)* pid=\d+\) ?)?"
    r"(?:(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ?"
    r"|(?P<letter>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ \d+ [^\]]*\] ?)?"
)
_HARMLESS = frozenset({"DEBUG", "INFO", "WARNING", "I", "W"})
_WORDS = re.compile(r"[^\W\d_]{2}.*\s.*[^\W\d_]{2}")
_LONGEST = 300
_FRAME = frozenset({"level", "timestamp", "logger"})


class _Line(NamedTuple):
    """`harmless`: its writer says that it speaks of no failure."""

    text: str
    harmless: bool


def last_meaningful_line(log: Path, *, since: int = 0) -> str:
    """The last line that speaks of a failure, else the last line at all; `since` skips what earlier runs wrote."""
    lines = [line for line in _lines(log, _READ_BYTES, since) if not _QUOTED_SOURCE.match(line.text)]
    telling = [line for line in lines if not line.harmless and _TELLING.search(line.text)]
    reasons = [line for line in telling if not _POINTS_ELSEWHERE.search(line.text)]
    last = (reasons or telling or lines)[-1:]
    chosen = last[0].text.strip() if last else "it wrote nothing to its log"
    return chosen if len(chosen) <= _LONGEST else chosen[: _LONGEST - 1] + "…"


def tells_of_a_full_disk(log: Path, *, since: int = 0) -> bool:
    """Programs often say it first and then fail of something that follows from it."""
    return any("no space left" in line.text.lower() for line in _lines(log, _READ_BYTES, since))


def last_line(log: Path, *, since: int = 0) -> str:
    """What a running program said last in words."""
    lines = _lines(log, 2048, since)
    return next((_said(line.text.strip()) for line in reversed(lines) if _WORDS.search(line.text)), "")


def _said(text: str) -> str:
    """A line of our own log is JSON: its event, and what belongs to it."""
    try:
        held = json.loads(text)
        event = str(held.pop("event"))
    except (ValueError, TypeError, KeyError, AttributeError):
        return text
    facts = [f"{name} {value}" for name, value in held.items() if name not in _FRAME]
    return ", ".join([event, *facts])


def end_of(log: Path) -> int:
    """Where that begins which is written from now on."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def _lines(log: Path, size_bytes: int, since: int) -> list[_Line]:
    try:
        with log.open("rb") as file:
            file.seek(max(since, log.stat().st_size - size_bytes))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    lines = (_line(_COLOUR.sub("", raw).rstrip()) for raw in text.splitlines())
    return [line for line in lines if line.text]


def _line(raw: str) -> _Line:
    prefix = _PREFIX.match(raw)
    if prefix is None:
        return _Line(raw, harmless=False)
    return _Line(raw[prefix.end() :], harmless=(prefix["level"] or prefix["letter"]) in _HARMLESS)
