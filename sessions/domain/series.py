"""A series: classes that repeat, each of them a drill of its own."""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sessions.domain.bells import Days, bells
from sessions.domain.drill import DrillPlan, SeriesId
from sessions.domain.viewer import AccountId, TenantId
from sessions.domain.zone import zone_of
from sessions.errors import DrillInvalid

MOST_CLASSES = 400
LONGEST = timedelta(days=5 * 366)
LONGEST_CLASS_MINUTES = 7 * 24 * 60


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When its classes begin, and how long each is."""

    cron: str
    timezone: str
    minutes: int


@dataclass(frozen=True, slots=True)
class SeriesPlan:
    """What an instructor sets: exactly one of `until` and `count` ends the series."""

    rhythm: Rhythm
    like: DrillPlan
    """Each of its classes, apart from when it is."""
    first_day: date | None = None
    """In the zone of the rhythm; None: from now on."""
    until: date | None = None
    """Its last day."""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    id: SeriesId
    tenant: TenantId
    rhythm: Rhythm
    first_at: datetime
    last_at: datetime
    """The first and the last bell, as they were planned."""
    created_by: AccountId
    created_at: datetime


def class_plans(plan: SeriesPlan, *, now: datetime) -> tuple[DrillPlan, ...]:
    """The plan of each class, by its bell; raises `DrillInvalid` with the field."""
    zone = _checked_zone(plan.rhythm)
    days = _days(plan, now.astimezone(zone))
    moments = bells(plan.rhythm.cron, zone, days, most=plan.count or MOST_CLASSES + 1)
    _check_count(plan, len(moments), days)
    length = timedelta(minutes=plan.rhythm.minutes)
    return tuple(replace(plan.like, starts_at=moment, ends_at=moment + length) for moment in moments)


def _checked_zone(rhythm: Rhythm) -> ZoneInfo:
    if not 1 <= rhythm.minutes <= LONGEST_CLASS_MINUTES:
        raise DrillInvalid("minutes", f"a class takes 1 to {LONGEST_CLASS_MINUTES} minutes, not {rhythm.minutes}")
    zone = zone_of(rhythm.timezone)
    if zone is None:
        raise DrillInvalid("timezone", "there is no such time zone; one is written as Europe/Berlin")
    return zone


def _days(plan: SeriesPlan, now: datetime) -> Days:
    first, last = plan.first_day or now.date(), plan.until
    if (last is None) == (plan.count is None):
        raise DrillInvalid("until", "a series ends: give either its last day as until, or how many classes as count")
    if plan.count is not None and not 1 <= plan.count <= MOST_CLASSES:
        raise DrillInvalid("count", f"a series has 1 to {MOST_CLASSES} classes, not {plan.count}")
    if abs(first - now.date()) > LONGEST:
        raise DrillInvalid("first_day", "the first day is within five years from now")
    if last is not None and last < first:
        raise DrillInvalid("until", f"the last day, {last}, is before the first one, {first}")
    if last is not None and last - first > LONGEST:
        raise DrillInvalid("until", "a series lasts five years at most")
    return Days(first, last or first + LONGEST, None if plan.first_day else now)


def _check_count(plan: SeriesPlan, found: int, days: Days) -> None:
    if not found:
        raise DrillInvalid("cron", f"no class falls between {days.first} and {days.last}")
    if found > MOST_CLASSES:
        raise DrillInvalid("until", f"that makes more than the {MOST_CLASSES} classes that a series may have")
    if plan.count is not None and found < plan.count:
        raise DrillInvalid("count", f"there are only {found} such classes within five years")
