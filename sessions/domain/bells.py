"""When the classes of a series begin: a cron expression, read as times on the wall of a time zone."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from sessions.domain.zone import moment_at
from sessions.errors import DrillInvalid

_FIELDS = 5
_LONGEST = 100
# The clocks of no place were ever put forward by more than a day, so no later time on the wall is an earlier moment.
_WHILE_CLOCKS_CHANGE = 24 * 60


@dataclass(frozen=True, slots=True)
class Days:
    """From the first day to the last one, both in the zone; nothing before a moment."""

    first: date
    last: date
    not_before: datetime | None = None


def bells(cron: str, zone: ZoneInfo, days: Days, *, most: int) -> tuple[datetime, ...]:
    """The first so many moments of these days, in UTC; raises `DrillInvalid` for the cron.

    A time that a change of the clocks skips is put off by as much, and one that comes twice counts once.
    """
    found: set[datetime] = set()
    for wall in _walls(cron, days.first, days.last):
        moment = moment_at(wall, zone)
        if days.not_before is None or moment >= days.not_before:
            found.add(moment)
        if len(found) >= most + _WHILE_CLOCKS_CHANGE:
            break
    return tuple(sorted(found)[:most])


def _walls(cron: str, first: date, last: date) -> Iterator[datetime]:
    if len(cron) > _LONGEST or len(cron.split()) != _FIELDS:
        raise DrillInvalid("cron", "it has five fields, such as 0 9 * * MON: minute, hour, day, month, day of the week")
    try:
        times = CronSim(cron, datetime.combine(first, time()) - timedelta(seconds=1))
    except CronSimError as error:
        fault = str(error).removeprefix("Bad ")
        raise DrillInvalid("cron", f"the {fault} cannot be read; 0 9 * * MON is every Monday at 9") from None
    end = datetime.combine(last, time.max)
    return takewhile(lambda wall: wall <= end, times)
