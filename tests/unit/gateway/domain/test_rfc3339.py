"""Moments are read as they are written, and nothing else is one."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.rfc3339 import moment_of

OFFSETS = st.integers(min_value=-14 * 60, max_value=14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=OFFSETS)  # noqa: DTZ001


@given(MOMENTS)
def test_a_written_moment_is_read_back_in_utc(moment: datetime) -> None:
    found = moment_of(moment.isoformat())
    assert found == moment
    assert found is not None
    assert found.tzinfo is UTC


def test_the_ways_to_write_one() -> None:
    noon = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    for text in ("2026-03-01T12:00:00Z", "2026-03-01t12:00:00.000z", "2026-03-01T20:00:00+08:00"):
        assert moment_of(text) == noon


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01T12:00Z",
        "2026-03-01 12:00:00Z",
        "2026-02-30T12:00:00Z",
        "2026-03-01T25:00:00Z",
        "2026-03-01T12:00:00Z\n",
        "2026-03-01T12:00:00+99:00",
        "0001-01-01T00:00:00+14:00",
        "٢٠٢٦-03-01T12:00:00Z",
    ],
)
def test_what_is_no_moment(text: str) -> None:
    assert moment_of(text) is None
