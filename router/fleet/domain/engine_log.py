"""The line of an engine's log that tells an operator why it ended."""

import re
from typing import Final

LONGEST: Final = 300
_TELLING: Final = re.compile(
    r"error|exception|fatal|cannot|could not|failed|no space|denied|killed|out of memory|in use", re.IGNORECASE
)
_POINTS_ELSEWHERE: Final = re.compile(r"see (root cause|stack trace|the log)|for further information", re.IGNORECASE)
# A traceback quotes the source, and such a line may name an error that was never raised.
_QUOTED_SOURCE: Final = re.compile(r"\s{4}|\s*File \".*\", line \d+|\s*Traceback \(|\s*raise\b")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
# vLLM puts its process in front of a line, then level, time and module.
_PREFIX: Final = re.compile(
    r"(?:\([\w.-]+(?: [\w.-]+)* pid=\d+\) ?)?(?:(DEBUG|INFO|WARNING|ERROR|CRITICAL) [\d-]+ [\d:]+ \[[^\]]*\] ?)?"
)
_HARMLESS: Final = frozenset({"DEBUG", "INFO", "WARNING"})


def telling_line(log: str) -> str:
    """The last line that speaks of a failure, else the last one; empty where there is none."""
    whole = [line for raw in log.splitlines() if (line := _COLOUR.sub("", raw).rstrip())]
    lines = [line for line in whole if not _QUOTED_SOURCE.match(line)]
    telling = [line for line in lines if not _is_harmless(line) and _TELLING.search(line)]
    reasons = [line for line in telling if not _POINTS_ELSEWHERE.search(line)]
    last = (reasons or telling or lines)[-1:]
    return short(_PREFIX.sub("", last[0], count=1)) if last else ""


def short(line: str) -> str:
    """Fit for one line of a log or a terminal."""
    shown = "".join(letter for letter in line if letter.isprintable()).strip()
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def _is_harmless(line: str) -> bool:
    prefix = _PREFIX.match(line)
    return prefix is not None and prefix[1] in _HARMLESS
