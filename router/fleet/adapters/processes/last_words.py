"""The line of an engine's log that tells an operator why it ended."""

import re
from pathlib import Path

_READ_BYTES = 64 * 1024
_LONGEST = 300
_TELLING = re.compile(
    r"error|exception|fatal|cannot|could not|failed|no space|denied|killed|out of memory|in use", re.I
)
_POINTS_ELSEWHERE = re.compile(r"see (root cause|stack trace|the log)|for further information", re.IGNORECASE)
# A traceback quotes the source, and such a line may name an error that was never raised.
_QUOTED_SOURCE = re.compile(r"\s{4}|\s*File \".*\", line \d+|\s*Traceback \(|\s*raise\b")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# vLLM puts its process in front of a line, then level, time and module.
_PREFIX = re.compile(
    r"(?:\([\w.-]+(?: [\w.-]+)* pid=\d+\) ?)?(?:(DEBUG|INFO|WARNING|ERROR|CRITICAL) [\d-]+ [\d:]+ \[[^\]]*\] ?)?"
)
_HARMLESS = frozenset({"DEBUG", "INFO", "WARNING"})


def last_words(log: Path, *, since: int = 0) -> str:
    """The last line that speaks of a failure, else the last one; `since` skips what earlier runs wrote."""
    lines = [line for line in _lines(log, since) if not _QUOTED_SOURCE.match(line)]
    telling = [line for line in lines if not _is_harmless(line) and _TELLING.search(line)]
    reasons = [line for line in telling if not _POINTS_ELSEWHERE.search(line)]
    last = (reasons or telling or lines)[-1:]
    chosen = _PREFIX.sub("", last[0], count=1).strip() if last else "it wrote nothing to its log"
    return chosen if len(chosen) <= _LONGEST else chosen[: _LONGEST - 1] + "…"


def _lines(log: Path, since: int) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(since, log.stat().st_size - _READ_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return [line for raw in text.splitlines() if (line := _COLOUR.sub("", raw).rstrip())]


def _is_harmless(line: str) -> bool:
    prefix = _PREFIX.match(line)
    return prefix is not None and prefix[1] in _HARMLESS
