"""Time zones by their names, and what clocks show in them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sessions.domain.zone import is_skipped, moment_at, read_moment, zone_of

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("name", ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
def test_a_zone_is_found_by_its_name(name: str) -> None:
    assert zone_of(name) == ZoneInfo(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Europe",
        "Europe/",
        "Europe/Bern1",
        "../etc/passwd",
        "/etc/passwd",
        "localtime",
        "Factory",
        "right/UTC",
        "x\0",
        "é",
        "A" * 65,
        "Europe/../Europe/Berlin",
    ],
)
def test_what_is_no_zone_is_none(name: str) -> None:
    assert zone_of(name) is None


@pytest.mark.parametrize(
    ("wall", "moment", "skipped"),
    [
        ("2026-03-29 01:59", datetime(2026, 3, 29, 0, 59, tzinfo=UTC), False),
        ("2026-03-29 02:00", datetime(2026, 3, 29, 1, 0, tzinfo=UTC), True),
        ("2026-03-29 02:30", datetime(2026, 3, 29, 1, 30, tzinfo=UTC), True),
        ("2026-03-29 03:00", datetime(2026, 3, 29, 1, 0, tzinfo=UTC), False),
        ("2026-10-25 02:30", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), False),
        ("2026-10-25 03:00", datetime(2026, 10, 25, 2, 0, tzinfo=UTC), False),
    ],
)
def test_a_time_on_the_wall_is_one_moment(wall: str, moment: datetime, skipped: bool) -> None:
    assert moment_at(datetime.fromisoformat(wall), BERLIN) == moment
    assert is_skipped(datetime.fromisoformat(wall), BERLIN) is skipped


def test_a_day_may_be_skipped() -> None:
    apia, noon = ZoneInfo("Pacific/Apia"), datetime.fromisoformat("2011-12-30 12:00")
    assert is_skipped(noon, apia)
    assert moment_at(noon, apia) - moment_at(noon - timedelta(days=1), apia) == timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "zone", "moment"),
    [
        ("2026-12-01 09:00", BERLIN, datetime(2026, 12, 1, 8, tzinfo=UTC)),
        ("2026-12-01T09:00:30.5", BERLIN, datetime(2026, 12, 1, 8, 0, 30, tzinfo=UTC)),
        ("2026-12-01 09:00Z", BERLIN, datetime(2026, 12, 1, 9, tzinfo=UTC)),
        ("2026-12-01t09:00 -05:00", None, datetime(2026, 12, 1, 14, tzinfo=UTC)),
        ("2026-03-29 02:30+01:00", BERLIN, datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_by_its_own_offset_else_by_the_clocks_of_the_zone(
    text: str, zone: ZoneInfo | None, moment: datetime
) -> None:
    assert read_moment(text, zone) == moment


@pytest.mark.parametrize(
    ("text", "zone", "why"),
    [
        ("tomorrow", BERLIN, "a time is written as"),
        ("2026-12-01", BERLIN, "a time is written as"),
        ("2026-12-01 09:00", None, "its time zone is missing"),
        ("2026-03-29 02:30", BERLIN, "the clocks skip that time"),
        ("0001-01-01 00:00+14:00", None, "too far away"),
    ],
)
def test_what_is_no_moment_is_said_in_words(text: str, zone: ZoneInfo | None, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_moment(text, zone)
