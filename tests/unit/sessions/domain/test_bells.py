"""Cron expressions as times on the wall, the nights in which clocks change among them."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.domain.bells import Days, bells
from sessions.errors import DrillInvalid

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "Pacific/Apia", "UTC")
DAY_NAMES = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


def rung(cron: str, zone: str, first: date, last: date, *, most: int = 50) -> list[str]:
    """The bells as clocks in the zone show them, with their offsets."""
    return [
        f"{bell.astimezone(ZoneInfo(zone)):%m-%d %H:%M %z}"
        for bell in bells(cron, ZoneInfo(zone), Days(first, last), most=most)
    ]


def test_a_weekly_class_keeps_its_hour_when_the_clocks_change() -> None:
    assert rung("0 9 * * MON", "Europe/Berlin", date(2026, 3, 20), date(2026, 4, 6)) == [
        "03-23 09:00 +0100",
        "03-30 09:00 +0200",
        "04-06 09:00 +0200",
    ]


def test_a_time_that_is_skipped_is_put_off_by_as_much() -> None:
    assert rung("30 2 * * *", "Europe/Berlin", date(2026, 3, 28), date(2026, 3, 30)) == [
        "03-28 02:30 +0100",
        "03-29 03:30 +0200",
        "03-30 02:30 +0200",
    ]


def test_a_time_that_comes_twice_counts_once_at_its_first_coming() -> None:
    assert rung("30 2 * * *", "Europe/Berlin", date(2026, 10, 24), date(2026, 10, 26)) == [
        "10-24 02:30 +0200",
        "10-25 02:30 +0200",
        "10-26 02:30 +0100",
    ]
    assert rung("30 1 * * SUN", "America/New_York", date(2026, 11, 1), date(2026, 11, 1)) == ["11-01 01:30 -0400"]


def test_times_that_a_change_of_the_clocks_makes_the_same_are_one_class_each() -> None:
    assert rung("*/30 2,3 * * *", "Europe/Berlin", date(2026, 3, 29), date(2026, 3, 29)) == [
        "03-29 03:00 +0200",
        "03-29 03:30 +0200",
    ]


def test_only_the_first_ones_are_given_and_nothing_before_a_moment() -> None:
    zone, days = ZoneInfo("UTC"), Days(date(2026, 1, 1), date(2026, 1, 9), datetime(2026, 1, 2, 9, 0, tzinfo=UTC))
    assert [bell.day for bell in bells("0 9 * * *", zone, days, most=3)] == [2, 3, 4]
    assert [bell.day for bell in bells("59 8 * * *", zone, days, most=1)] == [3]
    assert len(bells("* * * * *", zone, days, most=7)) == 7
    assert bells("0 0 * 2 MON#5", zone, days, most=7) == ()


def test_the_first_and_the_last_minute_of_the_days_are_within_them() -> None:
    day = date(2026, 1, 5)
    found = bells("0,59 0,23 * * *", ZoneInfo("UTC"), Days(day, day), most=9)
    assert (found[0].time(), found[-1].time(), len(found)) == (time(0, 0), time(23, 59), 4)


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "0 9 * *",
        "0 0 9 * * MON",
        "60 9 * * *",
        "0 24 * * *",
        "0 9 31 2 *",
        "0 9 * * FUN",
        "@weekly",
        "0 9 * * */0",
        "0 9 " + "1," * 60 + "1 * *",
        "٣ 9 * * *",
        "0 9 * * 5#6",
        "0 9 5-1 * *",
    ],
)
def test_what_is_no_cron_is_refused_with_how_one_is_written(cron: str) -> None:
    with pytest.raises(DrillInvalid, match=r"every Monday|such as 0 9") as refused:
        bells(cron, ZoneInfo("UTC"), Days(date(2026, 1, 1), date(2026, 1, 9)), most=1)
    assert refused.value.field == "cron"


@given(st.text("0123456789*/,-#LW MONx", max_size=30))
def test_no_text_does_anything_but_be_read_or_be_refused(text: str) -> None:
    try:
        found = bells(text, ZoneInfo("UTC"), Days(date(2026, 1, 1), date(2028, 1, 1)), most=5)
    except DrillInvalid:
        return
    assert list(found) == sorted(set(found))


@st.composite
def rhythms(draw: st.DrawFn) -> tuple[set[int], set[int], set[int]]:
    minutes = draw(st.sets(st.integers(0, 59), min_size=1, max_size=3))
    hours = draw(st.sets(st.integers(0, 23), min_size=1, max_size=4))
    weekdays = draw(st.sets(st.integers(0, 6), min_size=1, max_size=7))
    return minutes, hours, weekdays


@settings(max_examples=60, deadline=None)
@given(
    rhythms(),
    st.sampled_from(ZONES),
    st.sampled_from([date(2011, 12, 28), date(2026, 3, 7), date(2026, 3, 28), date(2026, 10, 3), date(2026, 10, 24)])
    | st.dates(date(2000, 1, 1), date(2035, 1, 1)),
    st.integers(0, 9),
)
def test_every_time_on_the_wall_has_its_bell(
    rhythm: tuple[set[int], set[int], set[int]], zone_name: str, first: date, days: int
) -> None:
    """Against the zone itself, asked minute by minute from the other side: from moments to the wall."""
    minutes, hours, weekdays = rhythm
    cron = " ".join(
        [
            ",".join(map(str, sorted(minutes))),
            ",".join(map(str, sorted(hours))),
            "* *",
            ",".join(DAY_NAMES[day] for day in sorted(weekdays)),
        ]
    )
    zone, last = ZoneInfo(zone_name), first + timedelta(days=days)
    expected = set()
    for day in (first + timedelta(days=number) for number in range(days + 1)):
        for hour in hours if day.weekday() in weekdays else ():
            for minute in minutes:
                expected.add(shown_first(datetime.combine(day, time(hour, minute)), zone))
    assert set(bells(cron, zone, Days(first, last), most=10_000)) == expected


def shown_first(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first moment at which the zone shows this, or else as long after the gap begins as it lies within."""
    offsets = sorted(
        {(wall + timedelta(days=days)).replace(tzinfo=zone).utcoffset() or timedelta() for days in (-2, 2)}
    )
    moments = [(wall - offset).replace(tzinfo=UTC) for offset in offsets]
    shown = [moment for moment in moments if moment.astimezone(zone).replace(tzinfo=None) == wall]
    before = (wall - timedelta(days=2)).replace(tzinfo=zone).utcoffset() or timedelta()
    return min(shown) if shown else (wall - before).replace(tzinfo=UTC)
