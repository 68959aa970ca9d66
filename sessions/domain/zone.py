"""Time zones by their names, and what a clock on the wall says in them."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,3}", re.ASCII)
_LONGEST = 64
_OF_THE_MACHINE = {"localtime", "posixrules", "Factory"}


def zone_of(name: str) -> ZoneInfo | None:
    """None for what is no zone of the time zone database."""
    if len(name) > _LONGEST or not _NAME.fullmatch(name) or name in _OF_THE_MACHINE:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones is no zone either
        return None


def moment_at(wall: datetime, zone: ZoneInfo) -> datetime:
    """The moment, in UTC, at which the clocks of the zone show this.

    As calendars agree on it (RFC 5545): a time that comes twice in a night is its first coming, and one that is
    skipped is as much later as the clocks were put forward.
    """
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def is_skipped(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether the clocks of the zone never show this."""
    return moment_at(wall, zone).astimezone(zone).replace(tzinfo=None, fold=0) != wall
