"""Classes out of a calendar (RFC 5545), each time that an event repeats a class of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import recurring_ical_events
from icalendar import Calendar, Component, vRecur

from sessions.domain.class_rows import LONGEST_NAME, MOST_ROWS, ClassFault, ClassFile, ClassRow, RowDefaults, name_fault
from sessions.domain.zone import moment_at, zone_of

HORIZON = timedelta(days=366)
"""How far events are read."""

_DAY = timedelta(days=1)
_OFTEN = {"SECONDLY", "MINUTELY", "HOURLY"}
_WITHIN_A_DAY = ("BYSECOND", "BYMINUTE", "BYHOUR")
# Who calls off or moves one time of many may send that one alone.
_REPEATS = ("RRULE", "RDATE", "RECURRENCE-ID")
_LONGEST_UID = 500
_SHOWN = 80
_MOST_DIGITS = 9
# What the libraries stumble over when they are given something else than a calendar.
_STUMBLED = (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)


def read_ical(raw: bytes, defaults: RowDefaults, *, now: datetime) -> ClassFile:
    """Every class that is not over, until a year from now; and everything that is wrong with the file."""
    try:
        calendar = Calendar.from_ical(raw)
        events = calendar.walk("VEVENT")
    except _STUMBLED:
        return _refused("it is no calendar that can be read")
    if calendar.name != "VCALENDAR":
        return _refused("it is no calendar, but a part of one")
    if len(events) > MOST_ROWS:
        return _refused(f"a file has {MOST_ROWS} classes at most")
    asked = _Asked(defaults, _zone(calendar, defaults), is_off=str(calendar.get("METHOD")).upper() == "CANCEL")
    told = [event for event in events if not _is_over(event, (now - 2 * _DAY).date())]
    faults = [ClassFault(_place(event), fault) for event in told for fault in asked.faults(event)]
    if faults:
        return ClassFile((), tuple(faults))
    try:
        found = recurring_ical_events.of(calendar).between(now - _DAY, now + HORIZON + _DAY)
    except _STUMBLED:
        return _refused("its repeated events cannot be laid out")
    repeating = {_text(event, "UID") for event in events if any(name in event for name in _REPEATS)}
    rows = [asked.row(event, repeats=_text(event, "UID") in repeating) for event in found]
    coming = [row for row in rows if row.ends_at > now and row.starts_at <= now + HORIZON]
    if len(coming) > MOST_ROWS:
        return _refused(f"its events are more than {MOST_ROWS} classes within a year")
    return ClassFile(tuple(coming), ())


@dataclass(frozen=True, slots=True)
class _Asked:
    """What holds for all events of a calendar."""

    defaults: RowDefaults
    zone: ZoneInfo | None
    """Of times that name none."""
    is_off: bool
    """Whether the whole file calls classes off."""

    def faults(self, event: Component) -> Iterator[str]:
        """Why it is no class."""
        uid = _text(event, "UID")
        if not 1 <= len(uid) <= _LONGEST_UID:
            yield f"an event has a UID of 1 to {_LONGEST_UID} characters"
        yield from _rule_faults(event)
        yield from self._time_faults(event)
        if self._is_off(event):
            return
        fault = name_fault(_text(event, "SUMMARY"))
        if fault is not None:
            yield f"SUMMARY: {fault}"
        if not self._scenario(event):
            yield "its scenario is missing, and none was given for all classes"
        if len(self._scenario(event)) > LONGEST_NAME:
            yield f"X-DRILLYARD-SCENARIO: a title has at most {LONGEST_NAME} characters"
        if self._trainees(event) is None:
            yield "its number of trainees is missing, and none was given for all classes"

    def row(self, event: Component, *, repeats: bool) -> ClassRow:
        """Of one time that an event takes place; every event was looked at for faults before."""
        uid, start, end = _text(event, "UID"), _when(event, "DTSTART"), _when(event, "DTEND")
        starts_at = self._moment(start)
        # A class that repeats is as long in each night; one that does not ends when it says.
        ends_at = starts_at + (end - start) if repeats else self._moment(end)
        if end == start and self.defaults.minutes is not None:
            ends_at = starts_at + timedelta(minutes=self.defaults.minutes)
        planned = self._planned(_when(event, "RECURRENCE-ID")) if repeats else ""
        # Those of one called off were never looked at, and it may stand for hundreds of rows.
        return ClassRow(
            place=_place(event),
            key=f"{uid}\n{planned}",
            name=_text(event, "SUMMARY")[:LONGEST_NAME],
            starts_at=starts_at,
            ends_at=ends_at,
            scenario=self._scenario(event)[:LONGEST_NAME],
            expected_trainees=self._trainees(event) or 1,
            seats=_number(event, "X-DRILLYARD-SEATS"),
            is_cancelled=self._is_off(event),
        )

    def _time_faults(self, event: Component) -> Iterator[str]:
        try:
            start = _when(event, "DTSTART")
            end = _when(event, "DTEND") if "DTEND" in event else start + self._length(event, start)
        except _STUMBLED:
            yield "DTSTART, DTEND or DURATION is missing or cannot be read"
            return
        unknown = [zone for zone in map(_unknown_zone, (event["DTSTART"], event.get("DTEND"))) if zone is not None]
        if not isinstance(start, datetime) or not isinstance(end, datetime):
            yield "it takes all day; a class has a time at which it begins"
        elif unknown:
            yield f"there is no such time zone: {unknown[0][:_SHOWN]!r}"
        elif self.zone is None and None in (start.tzinfo, end.tzinfo):
            yield "its time zone is missing, and none was given for all classes"
        elif self._moment(end) <= self._moment(start) and not self._is_off(event):
            yield "it ends before it has begun"

    def _length(self, event: Component, start: date) -> timedelta:
        """Of an event without an end; raises `KeyError` where nobody says it."""
        if "DURATION" not in event:
            if self.defaults.minutes is not None:
                return timedelta(minutes=self.defaults.minutes)
            if self._is_off(event) or not isinstance(start, datetime):
                return timedelta()
        length: timedelta = _when(event, "DURATION")
        return length

    def _moment(self, wall: datetime) -> datetime:
        if wall.tzinfo is not None:
            return wall.astimezone(UTC)
        return moment_at(wall, self.zone or ZoneInfo("UTC"))

    def _planned(self, when: date) -> str:
        """At which of its times an event takes place, wherever that time was moved to."""
        return (self._moment(when) if isinstance(when, datetime) else when).isoformat()

    def _is_off(self, event: Component) -> bool:
        return self.is_off or _text(event, "STATUS").upper() == "CANCELLED"

    def _scenario(self, event: Component) -> str:
        return _text(event, "X-DRILLYARD-SCENARIO") or self.defaults.scenario or ""

    def _trainees(self, event: Component) -> int | None:
        return _number(event, "X-DRILLYARD-TRAINEES") or self.defaults.trainees


def _is_over(event: Component, day: date) -> bool:
    """Whether it ended for good before that day, so that nothing hangs on what it says."""
    if any(name in event for name in _REPEATS):
        return False
    try:
        end = _when(event, "DTEND") if "DTEND" in event else _when(event, "DTSTART")
        end += _when(event, "DURATION") if "DURATION" in event else timedelta()
        return bool((end.date() if isinstance(end, datetime) else end) < day)
    except _STUMBLED:
        return False


def _rule_faults(event: Component) -> Iterator[str]:
    for rule in _values(event, "RRULE"):
        if not isinstance(rule, vRecur):
            yield "its RRULE cannot be read"
        elif not all(isinstance(every, int) and every > 0 for every in rule.get("INTERVAL", ())):
            yield "its RRULE has an INTERVAL that is no number from 1 on"
        elif _OFTEN.intersection(map(str.upper, rule.get("FREQ", ()))) or any(name in rule for name in _WITHIN_A_DAY):
            yield "its RRULE repeats it within a day; classes repeat daily or more rarely"


def _when(event: Component, name: str) -> Any:
    """A date, a time or a length; raises one of what the libraries stumble with."""
    prop: Any = event[name]
    return prop.dt


def _unknown_zone(prop: Any) -> str | None:
    """The zone that a time names and nobody knows: the time is then read as if it named none."""
    zone = None if prop is None else prop.params.get("TZID")
    return None if zone is None or prop.dt.tzinfo is not None else str(zone)


def _zone(calendar: Component, defaults: RowDefaults) -> ZoneInfo | None:
    return zone_of(_text(calendar, "X-WR-TIMEZONE") or defaults.timezone or "")


def _place(event: Component) -> str:
    return f"UID {_text(event, 'UID')[:_SHOWN]}"


def _values(event: Component, name: str) -> list[Any]:
    found = event.get(name)
    return found if isinstance(found, list) else [] if found is None else [found]


def _text(event: Component, name: str) -> str:
    return next((str(value).strip() for value in _values(event, name)), "")


def _number(event: Component, name: str) -> int | None:
    text = _text(event, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def _refused(detail: str) -> ClassFile:
    return ClassFile((), (ClassFault("the file", detail),))
