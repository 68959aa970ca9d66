"""How the fleet's state and plan are put into words."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from gateway.cli.fleet_plan_view import (
    MOST_CLASSES,
    bell_text,
    clock_text,
    floor_text,
    is_well,
    lead_text,
    plan_lines,
    pools_table,
    span_text,
    state_lines,
)
from gateway.cli.fleet_plan_wire import (
    BellView,
    FleetPlanView,
    FloorView,
    LeadView,
    PlannedPoolView,
    RoundView,
    StepView,
    UnpooledView,
)

NINE = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
POOL = PlannedPoolView(
    model="tutor",
    host="processes",
    minimum=0,
    maximum=4,
    reserve=0,
    seats_per_replica=8,
    lead=LeadView(ahead_s=1800, source="configured", start_s=270),
    is_looked_after=False,
    steps=(StepView(at=NINE, seats=0, needs=0, wanted=0),),
)


def a_plan(*pools: PlannedPoolView, looked_after: bool = False) -> FleetPlanView:
    until = NINE.replace(hour=12)
    return FleetPlanView(at=NINE, since=NINE, until=until, is_looked_after=looked_after, pools=pools)


def table(plan: FleetPlanView) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(pools_table(plan, UTC), markup=False)
    return out.getvalue()


def test_without_pools_there_is_nothing_to_look_after() -> None:
    assert is_well(a_plan())
    assert "DRILLYARD_FLEET__POOLS" in next(state_lines(a_plan()))


def test_a_pool_without_a_host_is_only_shown() -> None:
    shown = a_plan(POOL.model_copy(update={"host": None}))
    assert is_well(shown)
    assert next(state_lines(shown)) == "no pool has a host: the plan is shown, and nobody carries it out"
    assert "it has no host" in table(shown)


def test_classes_without_a_pool_are_told() -> None:
    views = [UnpooledView(model="large", classes=1), UnpooledView(model="small", classes=2)]
    lines = list(state_lines(a_plan(POOL).model_copy(update={"unpooled": tuple(views)})))
    assert lines[1:] == [
        "1 class wants large, which has no pool: no replica is started for it",
        "2 classes want small, which has no pool: no replica is started for it",
    ]


@pytest.mark.parametrize(
    ("wanted", "floor", "at", "kept"),
    [
        (3, 0, NINE, 2),
        (3, 2, NINE, 1),
        (3, 4, NINE, 0),
        (1, 0, NINE, 0),
        (None, 0, NINE, 0),
        (3, 0, NINE.replace(hour=8), 0),
    ],
)
def test_replicas_beyond_the_calendar_are_kept_for_sessions(
    wanted: int | None, floor: int, at: datetime, kept: int
) -> None:
    told = RoundView(at=at, leader="a/1", wanted=wanted, ready=3, present=3)
    least = FloorView(replicas=floor, reason="") if floor else None
    steps = (
        StepView(at=NINE, seats=3, needs=1, wanted=1),
        StepView(at=NINE.replace(hour=10), seats=0, needs=0, wanted=0),
    )
    pool = POOL.model_copy(update={"is_looked_after": True, "last_round": told, "floor": least, "steps": steps})
    shown = table(a_plan(pool, looked_after=True))
    assert (f"{kept} kept for sessions that were not closed" in shown) == (kept > 0)
    assert ("kept for sessions" in shown) == (kept > 0)


def test_a_class_that_runs_is_told_until_its_seats_are_free() -> None:
    steps = (
        StepView(at=NINE, seats=6, needs=1, wanted=1),
        StepView(at=NINE.replace(hour=10), seats=2, needs=1, wanted=1),
        StepView(at=NINE.replace(hour=11), seats=0, needs=0, wanted=0),
    )
    assert "6 seats in class until Sun 01 Mar 11:00" in table(a_plan(POOL.model_copy(update={"steps": steps})))
    assert "6 seats in class" in table(a_plan(POOL.model_copy(update={"steps": steps[:1]})))
    assert "in class" not in table(a_plan(POOL))


def test_a_dry_run_says_so_once() -> None:
    dry = POOL.model_copy(update={"dry_run": True})
    told = RoundView(at=NINE, leader="a/1", ready=0, present=0, wait="dry run: nothing of this is done")
    looked_after = dry.model_copy(update={"is_looked_after": True, "last_round": told})
    for pool in (dry, looked_after):
        assert table(a_plan(pool)).count("dry run") == 1


def test_what_nobody_knows_is_a_question_mark() -> None:
    assert table(a_plan(POOL)).count("?") == 3
    assert bell_text(BellView(at=NINE, in_s=432, needs=6)) == "? of 6 ready, 00:07:12 left"


def test_the_first_shortage_is_told_and_the_others_are_counted() -> None:
    one = {"starts_at": NINE, "ends_at": NINE.replace(hour=10), "needs": 7, "allows": 4, "text": "needs 7, allows 4"}
    pool = PlannedPoolView.model_validate({**POOL.model_dump(), "shortages": [one] * 3})
    assert "needs 7, allows 4 (and 2 more, see `fleet plan`)" in table(a_plan(pool))
    assert sum(line.startswith("SHORT: Sun 01 Mar 09:00") for line in plan_lines(pool, a_plan(pool), 80, UTC)) == 3


def test_names_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in table(a_plan(POOL.model_copy(update={"model": "a\x1b[2J"})))


@pytest.mark.parametrize(
    ("lead", "told"),
    [
        (POOL.lead, "wanted 30 min before a bell, as set"),
        (
            LeadView(ahead_s=1800, source="configured", start_s=135, measured_p95_s=90, starts=12),
            "wanted 30 min before a bell, as set; starts take up to 90 s (12 measured)",
        ),
        (
            LeadView(ahead_s=2700, source="measured", start_s=1350, measured_p95_s=900, starts=12),
            "wanted 45 min before a bell, since 95 of 100 starts take up to 15 min (12 measured)",
        ),
        (
            LeadView(ahead_s=540, source="assumed", start_s=270, starts=3),
            "wanted 9 min before a bell, since a start is taken to last 4 min (3 measured)",
        ),
    ],
)
def test_the_lead_says_what_it_comes_from(lead: LeadView, told: str) -> None:
    assert lead_text(lead) == told


def test_a_floor_says_until_when_and_why() -> None:
    assert floor_text(FloorView(replicas=2), UTC) == "at least 2 until it is taken back"
    floor = FloorView(replicas=2, until=NINE, reason="a rehearsal")
    assert floor_text(floor, UTC) == "at least 2 until Sun 01 Mar 09:00 (a rehearsal)"


def test_a_long_list_of_classes_is_cut_and_counted() -> None:
    one = {"id": "a", "name": "Thursday", "starts_at": NINE, "ends_at": NINE.replace(hour=10), "seats": 12}
    pool = PlannedPoolView.model_validate({**POOL.model_dump(), "classes": [one] * (MOST_CLASSES + 3)})
    lines = list(plan_lines(pool, a_plan(pool), 80, UTC))
    assert lines.count("Sun 01 Mar 09:00 to Sun 01 Mar 10:00: Thursday, 12 seats") == MOST_CLASSES
    assert lines[-1] == "and 3 more of your classes"


def test_classes_of_others_alone_are_counted() -> None:
    pool = POOL.model_copy(update={"other_classes": 2, "reserve": 1, "floor": FloorView(replicas=1)})
    lines = list(plan_lines(pool, a_plan(pool), 80, UTC))
    assert lines[0].startswith("tutor: 8 seats a replica, 0 to 4 replicas, 1 in reserve; wanted 30 min")
    assert lines[-2:] == ["2 classes of other tenants", "at least 1 until it is taken back"]


@pytest.mark.parametrize(
    ("seconds", "clock", "span"),
    [(-5, "00:00:00", "0 s"), (59.6, "00:01:00", "60 s"), (432, "00:07:12", "7 min"), (90_000, "25:00:00", "25.0 h")],
)
def test_spans_are_told_as_people_say_them(seconds: float, clock: str, span: str) -> None:
    assert (clock_text(seconds), span_text(seconds)) == (clock, span)
