"""Calendars are read in processes that end, whatever stands in them."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessions.adapters.ical_classes import read_ical
from sessions.adapters.ical_process import CalendarProcesses
from sessions.domain.class_rows import RowDefaults

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = RowDefaults(scenario="Renewal", trainees=20, timezone="Europe/Berlin")


def calendar(*lines: str) -> bytes:
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:test", *lines, "END:VCALENDAR", ""]).encode()


def event(*lines: str, uid: str = "one") -> str:
    usual = ("DTSTART:20260305T090000", "DURATION:PT45M", "SUMMARY:周一 class")
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", *usual, *lines, "END:VEVENT"])


def children() -> set[str]:
    """The processes that this one has, those that only wait to be forgotten among them."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


async def test_a_process_reads_what_is_read_here() -> None:
    for raw in (calendar(event("RRULE:FREQ=WEEKLY;COUNT=3")), calendar(event("RRULE:FREQ=SECONDLY")), b"\xff\0"):
        assert await CalendarProcesses().read(raw, ALL, now=NOW) == read_ical(raw, ALL, now=NOW)


async def test_a_calendar_that_takes_too_long_is_given_up_and_leaves_no_process() -> None:
    before = children()
    endless = calendar(*(event("RRULE:FREQ=DAILY", "X-DRILLYARD-SEATS:1", uid=str(number)) for number in range(4000)))
    found = await CalendarProcesses(limit_s=1.0).read(endless, ALL, now=NOW)
    (fault,) = found.faults
    assert fault.detail == "it could not be read within 1 s; send fewer or simpler events"
    assert children() <= before


@pytest.mark.parametrize(
    "raw",
    [
        calendar("X" * 2_000_000),
        calendar(event("DESCRIPTION:" + "x" * 1_900_000)),
        calendar(*["BEGIN:VTODO"] * 50_000),
        calendar(event("RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30")),
        calendar(*["BEGIN:VEVENT\r\nEND:VEVENT"] * 40_000),
    ],
    ids=["a long word", "a long line", "deep", "never", "many"],
)
async def test_no_file_does_harm(raw: bytes) -> None:
    found = await CalendarProcesses(limit_s=8.0).read(raw, ALL, now=NOW)
    assert len(found.rows) + len(found.faults) <= 1
