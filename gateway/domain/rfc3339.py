"""Moments as they stand in requests: RFC 3339, with seconds and an offset."""

import re
from datetime import UTC, datetime

_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)


def moment_of(text: str) -> datetime | None:
    """In UTC; None for what is no such moment."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
