"""Time zones by their names, and what a clock on the wall says in them."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,3}", re.ASCII)
_LONGEST = 64
_OF_THE_MACHINE = {"localtime", "posixrules", "Factory", "posix", "right"}


def zone_of(name: str) -> ZoneInfo | None:
    """None for what is no zone of the time zone database."""
    if len(name) > _LONGEST or not _NAME.fullmatch(name) or name.partition("/")[0] in _OF_THE_MACHINE:
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


_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d{1,6})? ?([Zz]|[+-]\d{2}:\d{2})?", re.ASCII
)


def read_moment(text: str, zone: ZoneInfo | None) -> datetime:
    """The moment, in UTC, that somebody has written: with an offset, or as the clocks of the zone show it.

    Raises `ValueError` in words for whoever wrote it.
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError("a time is written as 2026-12-01 09:00, or with its offset as 2026-12-01T09:00:00+01:00")
    day, clock, offset = found.groups()
    try:
        wall = datetime.fromisoformat(f"{day} {clock}")
        if offset is not None:
            return datetime.fromisoformat(f"{day} {clock}{offset.upper()}").astimezone(UTC)
        if zone is None:
            raise ValueError("its time zone is missing, and none was given for all classes")
        if is_skipped(wall, zone):
            raise ValueError(f"in {zone.key} the clocks skip that time in that night")
        return moment_at(wall, zone)
    except OverflowError:
        raise ValueError("that time is too far away") from None
