"""Classes out of calendars, and what is wrong with calendars."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.adapters.ical_classes import read_ical
from sessions.domain.class_rows import MOST_ROWS, ClassFile, ClassRow, RowDefaults

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = RowDefaults(scenario="Renewal", trainees=20)
NONE = RowDefaults()
TIMES = ("DTSTART:20260305T090000Z", "DTEND:20260305T094500Z")
BERLIN = ("DTSTART;TZID=Europe/Berlin:20260327T023000", "DTEND;TZID=Europe/Berlin:20260327T031500")


def event(*lines: str, uid: str = "one", name: str = "Class") -> str:
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{name}", *lines, "END:VEVENT"])


def read(*parts: str, defaults: RowDefaults = ALL) -> ClassFile:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:test", *parts, "END:VCALENDAR", ""]
    return read_ical("\r\n".join(lines).encode(), defaults, now=NOW)


def times(found: ClassFile) -> list[str]:
    assert not found.faults
    return [f"{row.starts_at:%m-%d %H:%M} {int((row.ends_at - row.starts_at).seconds / 60)}" for row in found.rows]


def fault(*parts: str, defaults: RowDefaults = ALL) -> str:
    found = read(*parts, defaults=defaults)
    assert not found.rows
    (only,) = found.faults
    return f"{only.place}: {only.detail}"


def test_an_event_is_a_class() -> None:
    begins = datetime(2026, 3, 5, 9, tzinfo=UTC)
    row = ClassRow("UID one", "one\n", "Class", begins, begins + timedelta(minutes=45), "Renewal", 20)
    assert read(event(*TIMES)) == ClassFile((row,), ())


def test_an_event_may_say_what_is_ours_itself() -> None:
    own = ("X-DRILLYARD-SCENARIO:Angry", "X-DRILLYARD-TRAINEES:9", "X-DRILLYARD-SEATS:8")
    (row,) = read(event(*TIMES, *own), defaults=NONE).rows
    assert (row.scenario, row.expected_trainees, row.seats) == ("Angry", 9, 8)


def test_a_class_keeps_its_time_on_the_wall_and_its_length_when_the_clocks_change() -> None:
    found = read(event(*BERLIN, "RRULE:FREQ=DAILY;COUNT=4"))
    assert times(found) == ["03-27 01:30 45", "03-28 01:30 45", "03-29 01:30 45", "03-30 00:30 45"]


def test_one_night_that_does_not_repeat_ends_when_it_says() -> None:
    night = ("DTSTART;TZID=Europe/Berlin:20260328T230000", "DTEND;TZID=Europe/Berlin:20260329T060000")
    assert times(read(event(*night))) == ["03-28 22:00 360"]


def test_a_calendar_may_bring_its_own_zone() -> None:
    zone = [
        "BEGIN:VTIMEZONE",
        "TZID:School time",
        "BEGIN:STANDARD",
        "DTSTART:19700101T000000",
        "TZOFFSETFROM:+0300",
        "TZOFFSETTO:+0300",
        "END:STANDARD",
        "END:VTIMEZONE",
    ]
    found = read(*zone, event("DTSTART;TZID=School time:20260305T090000", "DURATION:PT45M"))
    assert times(found) == ["03-05 06:00 45"]


def test_times_without_a_zone_are_of_the_calendar_or_of_whoever_sends_it() -> None:
    floating = event("DTSTART:20260305T090000", "DURATION:PT45M")
    assert times(read("X-WR-TIMEZONE:Europe/Berlin", floating)) == ["03-05 08:00 45"]
    told = RowDefaults("Renewal", 20, "Asia/Shanghai")
    assert times(read(floating, defaults=told)) == ["03-05 01:00 45"]
    assert times(read("X-WR-TIMEZONE:Europe/Berlin", floating, defaults=told)) == ["03-05 08:00 45"]
    assert "time zone is missing" in fault(floating)


def test_how_long_a_class_is_may_hold_for_all() -> None:
    told = RowDefaults("Renewal", 20, minutes=30)
    bare = event("DTSTART:20260305T090000Z")
    assert times(read(bare, defaults=told)) == ["03-05 09:00 30"]
    assert (
        times(read(event("DTSTART:20260305T090000Z", "RRULE:FREQ=DAILY;COUNT=2"), defaults=told))[1] == "03-06 09:00 30"
    )
    assert "missing" in fault(bare)


def test_each_time_that_an_event_takes_place_is_known_by_its_planned_time() -> None:
    weekly = event(
        "DTSTART:20260302T090000Z", "DTEND:20260302T094500Z", "RRULE:FREQ=WEEKLY;COUNT=4", "EXDATE:20260309T090000Z"
    )
    moved = event("RECURRENCE-ID:20260316T090000Z", "DTSTART:20260317T100000Z", "DTEND:20260317T110000Z")
    off = event("RECURRENCE-ID:20260323T090000Z", "DTSTART:20260323T090000Z", "DURATION:PT1H", "STATUS:CANCELLED")
    plain, changed = read(weekly), read(weekly, moved, off)
    assert times(plain) == ["03-02 09:00 45", "03-16 09:00 45", "03-23 09:00 45"]
    assert times(changed) == ["03-02 09:00 45", "03-17 10:00 60", "03-23 09:00 60"]
    assert [row.key for row in plain.rows] == [row.key for row in changed.rows]
    assert len({row.key for row in plain.rows}) == 3
    assert [row.is_cancelled for row in changed.rows] == [False, False, True]


def test_an_event_that_does_not_repeat_is_known_wherever_it_is_moved_to() -> None:
    later = event("DTSTART:20260306T090000Z", "DTEND:20260306T094500Z")
    assert read(event(*TIMES)).rows[0].key == read(later).rows[0].key


def test_a_calendar_may_call_everything_off() -> None:
    (row,) = read("METHOD:CANCEL", event("DTSTART:20260305T090000Z", name="")).rows
    assert row.is_cancelled


def test_one_time_of_many_may_be_called_off_by_itself() -> None:
    weekly = read(event("DTSTART:20260302T090000Z", "DTEND:20260302T094500Z", "RRULE:FREQ=WEEKLY;COUNT=2"))
    alone = event("RECURRENCE-ID:20260309T090000Z", "DTSTART:20260309T090000Z", "DURATION:PT45M")
    (row,) = read("METHOD:CANCEL", alone).rows
    assert (row.key, row.is_cancelled) == (weekly.rows[1].key, True)


def test_long_texts_of_what_is_called_off_are_not_told_with_each_of_its_times() -> None:
    long = "x" * 10_000
    daily = event(*TIMES, f"X-DRILLYARD-SCENARIO:{long}", "RRULE:FREQ=DAILY;COUNT=3", "STATUS:CANCELLED", name=long)
    assert {len(row.name + row.scenario) for row in read(daily).rows} == {400}


def test_only_what_is_not_over_is_read_until_a_year_from_now() -> None:
    daily = read(event("DTSTART:20250301T110000Z", "DURATION:PT2H", "RRULE:FREQ=DAILY"))
    assert len(daily.rows) == 367
    assert daily.rows[0].starts_at == NOW - timedelta(hours=1)
    assert times(read(event("DTSTART:20200305T090000Z", "DURATION:PT1H"))) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("DTSTART;VALUE=DATE:20200305",),
        ("DTSTART;VALUE=DATE:20200305", "DTEND;VALUE=DATE:20200306"),
        ("DTSTART;TZID=Nowhere/Land:20200305T090000", "DURATION:PT1H"),
        ("DTSTART:20200305T090000Z", "DTEND:20200305T090000Z"),
    ],
)
def test_what_is_over_for_good_is_not_held_against_the_file(lines: tuple[str, ...]) -> None:
    assert times(read(event(*lines, uid="", name=""), event(*TIMES))) == ["03-05 09:00 45"]
    lasting = "DTSTART;VALUE=DATE:20200305", "DURATION:P3650D"
    assert "takes all day" in fault(event(*lasting))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("DTSTART;VALUE=DATE:20260305",), "UID one: it takes all day"),
        (("DTSTART;VALUE=DATE:20260305", "DTEND;VALUE=DATE:20260306"), "it takes all day"),
        (("DTSTART:20261399T090000Z", "DURATION:PT1H"), "cannot be read"),
        (("DURATION:PT1H",), "missing or cannot be read"),
        (("DTSTART;TZID=Nowhere/Land:20260305T090000", "DURATION:PT1H"), "no such time zone: 'Nowhere/Land'"),
        (("DTSTART:20260305T090000Z", "DTEND:20260305T080000Z"), "ends before"),
        (("DTSTART:20260305T090000Z", "DURATION:PT0S"), "ends before"),
        (("DTSTART:20260305T090000Z", "DTSTART:20260306T090000Z", "DURATION:PT1H"), "cannot be read"),
        ((*TIMES, "RRULE:FREQ=SECONDLY"), "repeats it within a day"),
        ((*TIMES, "RRULE:FREQ=HOURLY;COUNT=3"), "repeats it within a day"),
        ((*TIMES, "RRULE:FREQ=DAILY;BYHOUR=1,2,3"), "repeats it within a day"),
        ((*TIMES, "RRULE:FREQ=DAILY", "RRULE:FREQ=MINUTELY"), "repeats it within a day"),
        ((*TIMES, "RRULE:FREQ=SOMETIMES"), "RRULE cannot be read"),
        ((*TIMES, "RRULE:FREQ=DAILY;INTERVAL=0"), "INTERVAL that is no number from 1 on"),
        ((*TIMES, f"X-DRILLYARD-SCENARIO:{'x' * 201}"), "at most 200 characters"),
    ],
)
def test_what_is_no_class_is_refused_with_its_reason(lines: tuple[str, ...], words: str) -> None:
    assert words in fault(event(*lines))


def test_what_an_event_lacks_is_told_with_all_the_rest() -> None:
    found = read(event(*TIMES, name=""), event(*TIMES, uid=""), defaults=NONE)
    assert [one.detail.split()[0] for one in found.faults] == ["SUMMARY:", "its", "its", "an", "its", "its"]


@pytest.mark.parametrize("raw", [b"", b"hello\0\xff", b"BEGIN:VEVENT\r\nEND:VEVENT\r\n", b"BEGIN:VCALENDAR\r\n"])
def test_what_is_no_calendar_is_refused(raw: bytes) -> None:
    (only,) = read_ical(raw, ALL, now=NOW).faults
    assert "no calendar" in only.detail


def test_a_file_has_only_so_many_classes() -> None:
    short = "BEGIN:VEVENT\r\nEND:VEVENT"
    assert f"{MOST_ROWS} classes at most" in fault(*[short] * (MOST_ROWS + 1))
    daily = [event(*TIMES, "RRULE:FREQ=DAILY", uid=str(number)) for number in range(14)]
    assert f"more than {MOST_ROWS} classes" in fault(*daily)


LINES = st.lists(
    st.sampled_from(
        [
            "BEGIN:VEVENT",
            "END:VEVENT",
            "END:VCALENDAR",
            "BEGIN:VTIMEZONE",
            "UID:x",
            "SUMMARY:y",
            *TIMES,
            *BERLIN,
            "DTSTART;VALUE=DATE:20260305",
            "DTSTART:20260305T090000",
            "DURATION:-P1W",
            "DURATION:x",
            "RRULE:FREQ=WEEKLY;UNTIL=20260401",
            "RRULE:FREQ=YEARLY;BYMONTH=13",
            "RRULE:",
            "RDATE:20260306T090000Z",
            "RDATE;VALUE=PERIOD:20260306T090000Z/PT1H",
            "EXDATE:x",
            "RECURRENCE-ID;VALUE=DATE:20260305",
            "RECURRENCE-ID:20260305T090000Z",
            "STATUS:CANCELLED",
            "SEQUENCE:x",
        ]
    ),
    max_size=14,
)


@settings(max_examples=150, deadline=None)
@given(LINES)
def test_no_lines_do_anything_but_be_read_or_be_refused(lines: list[str]) -> None:
    found = read("BEGIN:VEVENT", "UID:x", "SUMMARY:y", *lines, "END:VEVENT")
    for row in found.rows:
        assert row.starts_at.tzinfo is UTC
        assert row.is_cancelled or row.ends_at > row.starts_at
