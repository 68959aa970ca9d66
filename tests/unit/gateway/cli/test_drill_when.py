"""When a class is, on a command line."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.cli.drill_when import bell, both_clocks, sent, written_moment, zone
from gateway.cli.failure import CommandFailed

NOW = datetime(2026, 11, 30, 22, 30, 5, 999, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def test_a_bell_is_a_moment_or_a_while_from_now() -> None:
    assert sent(bell("2026-12-01 09:00", None, BERLIN, now=NOW)) == "2026-12-01T08:00:00Z"
    assert sent(bell("2026-12-01T09:00:00-05:00", None, BERLIN, now=NOW)) == "2026-12-01T14:00:00Z"
    assert sent(bell(None, "1h30m", BERLIN, now=NOW)) == "2026-12-01T00:00:05Z"
    for at, after in ((None, None), ("2026-12-01 09:00", "4m")):
        with pytest.raises(CommandFailed, match="one of --at and --in"):
            bell(at, after, None, now=NOW)


def test_without_a_zone_it_is_this_machines() -> None:
    assert zone(None) is None
    local = datetime(2026, 12, 1, 9, tzinfo=datetime(2026, 12, 1, 9, tzinfo=UTC).astimezone().tzinfo)
    assert written_moment("2026-12-01 09:00", None) == local


@pytest.mark.parametrize(
    ("written", "why"), [("tomorrow", "written as"), ("2026-03-29 02:30", "skip"), ("2026-02-30 09:00", "day")]
)
def test_what_is_no_moment_is_refused(written: str, why: str) -> None:
    with pytest.raises(CommandFailed, match=f"is no moment; .*{why}"):
        written_moment(written, BERLIN)


def test_a_bell_that_leaves_no_room_for_a_class_is_refused() -> None:
    with pytest.raises(CommandFailed, match="too far away"):
        bell("9999-12-31 22:59", None, BERLIN, now=NOW)


def test_both_clocks_are_shown() -> None:
    at = datetime(2026, 7, 1, 23, 30, tzinfo=UTC)
    assert both_clocks(at, BERLIN) == "Thu 2026-07-02 01:30 CEST (2026-07-01 23:30 UTC)"
    assert both_clocks(at, UTC) == "Wed 2026-07-01 23:30 UTC"
    assert zone("Europe/Berlin") == BERLIN
    with pytest.raises(CommandFailed, match="no time zone 'Berlin'"):
        zone("Berlin")
