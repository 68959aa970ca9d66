"""Spans and moments as people write them on a command line."""

import re
from datetime import datetime, timedelta

from gateway.cli.failure import CommandFailed

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_TOO_LONG_S = 10 * 366 * 86_400
_SPAN = re.compile(r"([0-9]{1,6}[smhd])+", re.ASCII)
_PART = re.compile(r"([0-9]+)([smhd])", re.ASCII)


def span(written: str) -> timedelta:
    """Such as 90m, 2h or 1h30m; raises `CommandFailed`."""
    text = written.strip().lower()
    parts = _PART.findall(text) if _SPAN.fullmatch(text) else []
    found = timedelta(seconds=min(sum(int(count) * _UNITS[unit] for count, unit in parts), _TOO_LONG_S))
    if found.total_seconds() == _TOO_LONG_S:
        raise CommandFailed(f"{written!r} is too long", advice="a span is ten years at most")
    if not found:
        raise CommandFailed(f"{written!r} is no span of time", advice="write it as 90m, 2h or 1h30m")
    return found


def moment(written: str) -> datetime:
    """Such as 2026-12-01 18:00 by this machine's clock, or with a zone of its own; raises `CommandFailed`."""
    try:
        return datetime.fromisoformat(written.strip()).astimezone()
    except (ValueError, OverflowError):
        raise CommandFailed(
            f"{written!r} is no moment", advice="write it as '2026-12-01 18:00' or 2026-12-01T18:00:00+01:00"
        ) from None
