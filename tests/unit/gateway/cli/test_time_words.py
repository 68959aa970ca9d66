"""Spans and moments of a command line."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.cli.failure import CommandFailed
from gateway.cli.time_words import moment, span


@pytest.mark.parametrize(
    ("written", "seconds"), [("90m", 5400), ("2h", 7200), (" 1H30m ", 5400), ("1d", 86_400), ("45s", 45)]
)
def test_a_span_is_read(written: str, seconds: int) -> None:
    assert span(written) == timedelta(seconds=seconds)


@pytest.mark.parametrize("written", ["", "90", "m", "-5m", "0m", "1.5h", "1h 30m", "٣m", "5w", "9999999m"])
def test_what_is_no_span_is_refused(written: str) -> None:
    with pytest.raises(CommandFailed, match="write it as 90m"):
        span(written)


@pytest.mark.parametrize("written", ["9999d", "999999d" * 3_000])
def test_a_span_that_no_calendar_has_is_refused(written: str) -> None:
    with pytest.raises(CommandFailed, match="ten years at most"):
        span(written)


def test_a_moment_without_a_zone_is_this_machines() -> None:
    assert moment("2026-12-01 18:00") == datetime(2026, 12, 1, 18, 0).astimezone()
    assert moment("2026-12-01T18:00:00+01:00") == datetime(2026, 12, 1, 17, 0, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "tomorrow", "18:00", "2026-13-01 10:00", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_moment_is_refused(written: str) -> None:
    with pytest.raises(CommandFailed, match="is no moment"):
        moment(written)
