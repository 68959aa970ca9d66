"""The classes of a series."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from sessions.domain.series import Rhythm, SeriesPlan, class_plans
from sessions.errors import DrillInvalid
from tests.support.drill_world import plan

NOW = datetime(2026, 11, 30, 8, 30, tzinfo=UTC)  # a Monday, 9:30 in Berlin
PLAN = SeriesPlan(Rhythm("0 9 * * MON", "Europe/Berlin", 45), plan(), count=3)


def starts(asked: SeriesPlan) -> list[str]:
    return [f"{one.starts_at:%m-%d %H:%M}" for one in class_plans(asked, now=NOW)]


def test_each_class_is_like_the_plan_at_its_own_time() -> None:
    first, *_ = class_plans(PLAN, now=NOW)
    assert first == plan(
        starts_at=datetime(2026, 12, 7, 8, tzinfo=UTC), ends_at=datetime(2026, 12, 7, 8, 45, tzinfo=UTC)
    )


def test_a_series_begins_with_the_next_bell_or_with_its_first_day() -> None:
    assert starts(PLAN) == ["12-07 08:00", "12-14 08:00", "12-21 08:00"]
    assert starts(replace(PLAN, rhythm=replace(PLAN.rhythm, cron="30 9 * * MON")))[0] == "11-30 08:30"
    assert starts(replace(PLAN, first_day=date(2026, 11, 30)))[0] == "11-30 08:00"
    assert starts(replace(PLAN, first_day=date(2026, 12, 8)))[0] == "12-14 08:00"


def test_a_series_ends_with_its_last_day() -> None:
    assert starts(replace(PLAN, count=None, until=date(2026, 12, 14))) == ["12-07 08:00", "12-14 08:00"]


def test_the_days_are_those_of_the_zone() -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)  # already Tuesday in Berlin
    tuesday = replace(PLAN, rhythm=Rhythm("0 0 * * TUE", "Europe/Berlin", 45), first_day=None)
    (first, *_) = class_plans(replace(tuesday, first_day=date(2026, 12, 1)), now=late)
    assert first.starts_at == datetime(2026, 11, 30, 23, 0, tzinfo=UTC)
    assert class_plans(tuesday, now=late)[0].starts_at == datetime(2026, 12, 7, 23, 0, tzinfo=UTC)


def test_as_many_as_a_series_may_have() -> None:
    daily = replace(PLAN, rhythm=replace(PLAN.rhythm, cron="0 9 * * *"), count=400)
    assert len(class_plans(daily, now=NOW)) == 400


@pytest.mark.parametrize(
    ("changes", "rhythm", "field", "words"),
    [
        ({}, {"minutes": 0}, "minutes", "1 to 10080"),
        ({}, {"minutes": 10_081}, "minutes", "1 to 10080"),
        ({}, {"timezone": "Europe/Berln"}, "timezone", "written as Europe/Berlin"),
        ({}, {"cron": "0 9 * *"}, "cron", "five fields"),
        ({}, {"cron": "0 9 * 2 MON#5"}, "cron", "no class falls between"),
        ({"count": None}, {}, "until", "a series ends"),
        ({"until": date(2027, 1, 1)}, {}, "until", "a series ends"),
        ({"count": 0}, {}, "count", "1 to 400"),
        ({"count": 401}, {}, "count", "1 to 400"),
        ({"count": 6}, {"cron": "0 9 29 2 *"}, "count", "only 1"),
        ({"first_day": date(2032, 1, 1)}, {}, "first_day", "five years"),
        ({"first_day": date.min}, {}, "first_day", "five years"),
        ({"count": None, "until": date(2026, 11, 29)}, {}, "until", "before the first"),
        ({"count": None, "until": date.max}, {}, "until", "five years"),
        ({"count": None, "until": date(2030, 1, 1)}, {"cron": "0 9 * * *"}, "until", "more than the 400"),
    ],
)
def test_what_is_no_series_names_the_field(
    changes: dict[str, object], rhythm: dict[str, object], field: str, words: str
) -> None:
    asked = replace(PLAN, rhythm=replace(PLAN.rhythm, **rhythm), **changes)  # type: ignore[arg-type]  # by their names
    with pytest.raises(DrillInvalid, match=words) as refused:
        class_plans(asked, now=NOW)
    assert refused.value.field == field


def test_a_class_may_go_on_past_midnight_and_the_change_of_the_clocks() -> None:
    night = replace(PLAN, rhythm=Rhythm("0 23 * * SAT", "Europe/Berlin", 300), first_day=date(2027, 3, 27), count=1)
    (one,) = class_plans(night, now=NOW)
    assert one.ends_at - one.starts_at == timedelta(hours=5)
