"""What is told of a pool: the same plan as the controller's, with what it comes from."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain import pool_outlook
from gateway.domain.pool_outlook import Bell, LeadSource, PoolOutlook, Step, Window, lead_in_force, outlook
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import Booking, BookingId, PoolName, demand
from router.fleet.domain.past_starts import PastStart, measured_start_s
from router.fleet.domain.pool_book import Floor, PoolBook, Round
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.pool_view import PoolView
from router.fleet.domain.replica_record import ordered
from router.fleet.domain.scaling import target
from router.fleet.domain.timeline import Shortage, lead

POOL = PoolName("org/tutor")
HOUR = 3600.0
NOW = 100 * HOUR
WINDOW = Window(NOW - HOUR, NOW, NOW + 8 * HOUR)
RULES = PoolRules(seats_per_replica=10, maximum=4)
BOOK = PoolBook(POOL)
ROUND = Round(POOL, at=NOW - 5, leader="a", wanted=2, ready=1, present=2)


def a_class(name: str, begins: float, seats: int, *, hours: float = 1.0) -> Booking:
    """`begins` counts hours from now."""
    return Booking(BookingId(name), POOL, NOW + begins * HOUR, NOW + (begins + hours) * HOUR, expected=seats)


def seen(
    *bookings: Booking, book: PoolBook = BOOK, rules: PoolRules = RULES, told: Round | None = ROUND
) -> PoolOutlook:
    return outlook(book, rules, bookings, told, WINDOW)


def starts(*seconds: float) -> tuple[PastStart, ...]:
    return tuple(PastStart(0.0, each, went_warm=True) for each in seconds)


def test_replicas_come_half_an_hour_before_the_bell_and_go_after_the_end() -> None:
    assert seen(a_class("a", 2, 25)).steps == [
        Step(NOW - HOUR, seats=0, needs=0, wanted=0),
        Step(NOW + 1.5 * HOUR, seats=0, needs=0, wanted=3),
        Step(NOW + 2 * HOUR, seats=25, needs=3, wanted=3),
        Step(NOW + 3 * HOUR, seats=0, needs=0, wanted=0),
    ]


def test_what_is_short_is_told_and_what_is_over_is_not() -> None:
    found = seen(a_class("over", -3, 99), a_class("now", -0.5, 61), a_class("far", 9, 99))
    assert found.shortages == [Shortage(NOW - 0.5 * HOUR, NOW + 0.5 * HOUR, needs=7, allows=4)]
    assert max(step.wanted for step in found.steps) == RULES.maximum
    assert [each.id for each in found.classes] == ["now"]


def test_the_next_bell_counts_all_seats_that_are_taken_then() -> None:
    found = seen(a_class("runs", -0.5, 10, hours=3), a_class("nobody", 0.5, 0), a_class("next", 1, 30))
    assert found.next_bell == Bell(NOW + HOUR, needs=4, ready=1)


def test_without_a_bell_in_sight_there_is_none() -> None:
    assert seen(a_class("runs", -0.5, 10), a_class("far", 9, 10)).next_bell is None


def test_other_pools_and_cancelled_classes_are_left_out() -> None:
    other = replace(a_class("other", 1, 99), pool=PoolName("faq"))
    gone = replace(a_class("gone", 1, 99), is_cancelled=True)
    found = seen(other, gone)
    assert (found.steps, found.classes, found.shortages) == ([Step(WINDOW.since, 0, 0, 0)], [], [])


@pytest.mark.parametrize("told", [None, replace(ROUND, at=NOW - 61)])
def test_where_nobody_looks_nobody_knows_what_is_ready(told: Round | None) -> None:
    found = seen(a_class("a", 1, 10), told=told)
    assert not found.is_looked_after
    assert found.next_bell == Bell(NOW + HOUR, needs=1, ready=None)
    assert found.last_round == told


def test_rounds_that_are_set_to_be_rare_are_current_for_longer() -> None:
    slow = replace(WINDOW, fresh_s=180.0)
    assert outlook(BOOK, RULES, [], replace(ROUND, at=NOW - 179), slow).is_looked_after
    assert not outlook(BOOK, RULES, [], replace(ROUND, at=NOW - 181), slow).is_looked_after


def test_a_floor_lifts_the_plan_from_now_until_its_end() -> None:
    floor = Floor(9, NOW + 2 * HOUR, "operator")
    found = seen(a_class("a", 4, 10), book=replace(BOOK, floor=floor))
    assert [(step.at, step.wanted) for step in found.steps] == [
        (NOW - HOUR, 0),
        (NOW, RULES.maximum),
        (NOW + 2 * HOUR, 0),
        (NOW + 3.5 * HOUR, 1),
        (NOW + 4 * HOUR, 1),
        (NOW + 5 * HOUR, 0),
    ]
    assert found.floor == floor


def test_a_floor_without_an_end_stays_and_one_that_is_over_is_none() -> None:
    found = seen(book=replace(BOOK, floor=Floor(2, None, "operator")))
    assert found.steps[-1].wanted == 2
    over = seen(book=replace(BOOK, floor=Floor(2, NOW, "operator")))
    assert (over.floor, over.steps[-1].wanted) == (None, 0)


def test_the_lead_tells_what_it_comes_from() -> None:
    assert lead_in_force(BOOK, RULES).source is LeadSource.CONFIGURED
    short = replace(RULES, lead_s=60.0)
    assert lead_in_force(BOOK, short).source is LeadSource.ASSUMED
    slow = replace(BOOK, starts=(*starts(100, 200, 300, 400, 500), PastStart(0, 9, went_warm=False)))
    found = lead_in_force(slow, short)
    assert (found.source, found.measured_s, found.starts, found.lead.ahead_s) == (LeadSource.MEASURED, 500, 5, 1500)


def test_replicas_are_told_oldest_first() -> None:
    records = {
        ReplicaId(name): ordered(ReplicaId(name), POOL, now=at) for name, at in (("b", 2.0), ("a", 2.0), ("c", 1))
    }
    found = seen(book=replace(BOOK, records=records))
    assert [life.record.id for life in found.replicas] == ["c", "a", "b"]


def test_an_endless_calendar_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_outlook, "MOST_STEPS", 3)
    assert len(seen(*(a_class(str(hour), hour, 10, hours=0.2) for hour in range(1, 8))).steps) == 3


@given(
    st.lists(st.tuples(st.integers(-6, 40), st.integers(0, 90)), max_size=6),
    st.integers(0, 2),
    st.none() | st.tuples(st.integers(0, 9), st.none() | st.integers(-4, 4)),
    st.lists(st.floats(1, 900), max_size=8),
)
def test_what_is_told_for_now_is_what_the_controller_wants(
    classes: list[tuple[int, int]], minimum: int, floor: tuple[int, int | None] | None, seconds: list[float]
) -> None:
    """Where nobody stays past the end."""
    rules = replace(RULES, minimum=minimum, starts_at_once=2)
    bookings = [a_class(str(number), begins / 4, seats) for number, (begins, seats) in enumerate(classes)]
    until = None if floor is None or floor[1] is None else NOW + floor[1] * HOUR
    set_ = None if floor is None else Floor(floor[0], until, "operator")
    book = replace(BOOK, starts=starts(*seconds), floor=set_)
    steps = seen(*bookings, book=book, rules=rules).steps
    least = 0 if set_ is None else min(rules.maximum, set_.at(NOW))
    lifted = replace(rules, minimum=max(rules.minimum, least))
    view = PoolView((), demand(bookings, POOL), starts=book.starts)
    wanted_now = target(view, lifted, lead(rules, measured_start_s(book.starts)), now=NOW)
    assert [step.wanted for step in steps if step.at <= NOW][-1] == wanted_now


def test_steps_join_without_gaps() -> None:
    steps = seen(a_class("a", 1, 35), a_class("b", 1.5, 20), a_class("c", 6, 5)).steps
    ends = [*(step.at for step in steps[1:]), inf]
    assert all(step.at < end for step, end in zip(steps, ends, strict=True))
    assert all(step.wanted >= min(step.needs, RULES.maximum) for step in steps)


def test_what_changes_just_as_the_window_begins_or_ends_is_told_once() -> None:
    steps = seen(a_class("first", -1, 5), a_class("last", 8.5, 5)).steps
    assert [(step.at - NOW) / HOUR for step in steps] == [-1, 0]
