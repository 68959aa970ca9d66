"""The chart of replicas over time, line by line."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.fleet_plan_chart import MOST_ROWS, Moment, Scale, chart

NINE = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NINE + timedelta(minutes=minutes)


def drawn(*moments: Moment, allowed: int = 2, minutes: int = 120, width: int = 24, **more: object) -> list[str]:
    scale = Scale(NINE, at(minutes), width, zone=UTC)
    return list(chart(moments, scale, allowed=allowed, **more))  # type: ignore[arg-type]  # options by their names


def test_what_is_wanted_is_full_and_what_is_missing_is_shaded() -> None:
    lines = drawn(
        Moment(at(0), 0, 0),
        Moment(at(30), 0, 2),
        Moment(at(60), 3, 2),
        Moment(at(90), 0, 0),
        bells=[at(60)],
        now=at(10),
    )
    assert lines == [
        "3 │            ░░░░░░",
        "2 │╌╌╌╌╌╌████████████╌╌╌╌╌╌",
        "1 │      ████████████",
        "0 └┬───────────┬───────────",
        "   09:00       10:00",
        "     now       ▲",
    ]


def test_a_class_that_is_shorter_than_a_column_is_seen() -> None:
    lines = drawn(Moment(at(0), 0, 0), Moment(at(61), 5, 1), Moment(at(62), 0, 0), allowed=1)
    assert lines[0] == "5 │            ░"
    assert "█" in lines[4]


def test_many_replicas_share_rows() -> None:
    lines = drawn(Moment(at(0), 0, 0), Moment(at(60), 100, 100), allowed=100)
    assert len(lines) == MOST_ROWS + 2
    assert lines[0].startswith("100 │╌╌╌")
    assert lines[MOST_ROWS - 1] == "  9 │            ████████████"


def test_times_are_the_readers() -> None:
    scale = Scale(NINE, at(120), 24, zone=ZoneInfo("Asia/Kolkata"))
    assert list(chart([Moment(NINE, 0, 0)], scale, allowed=1))[-1] == "         15:00       16:00"


def test_midnight_is_named_by_its_day() -> None:
    lines = drawn(Moment(at(0), 0, 1), minutes=168 * 60, width=60)
    assert lines[-1].split() == ["Tue", "03", "Thu", "05", "Sat", "07"]


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 300), st.integers(0, 300)), max_size=12),
    st.integers(40, 200),
    st.integers(1, 168),
    st.integers(0, 2_000),
)
def test_any_plan_fits(moments: list[tuple[int, int, int]], width: int, hours: int, allowed: int) -> None:
    rising = [Moment(at(minute), needs, wanted) for minute, needs, wanted in sorted(moments) if minute < hours * 60]
    lines = drawn(*rising, allowed=allowed, minutes=hours * 60, width=width)
    assert len(lines) <= MOST_ROWS + 2
    assert all(len(line) <= width + len(str(2_000)) + 2 + len("Mon 02") for line in lines)
