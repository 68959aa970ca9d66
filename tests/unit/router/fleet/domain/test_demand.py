"""The calendar's classes as seats over time."""

from dataclasses import replace

import pytest

from router.fleet.domain.demand import Booking, BookingId, PoolName, current, demand, seats_of
from router.fleet.domain.steps import Block, Steps, summed

POOL = PoolName("qwen")
CLASS = Booking(BookingId("a"), POOL, begins=100.0, ends=200.0, expected=30)


@pytest.mark.parametrize(
    ("booking", "seats"),
    [
        (CLASS, 30),
        (replace(CLASS, walk_ins=10), 30),
        (replace(CLASS, seats=40), 40),
        (replace(CLASS, seats=40, walk_ins=10), 40),
        (replace(CLASS, seats=20), 20),
        (replace(CLASS, seats=20, walk_ins=5), 25),
        (replace(CLASS, seats=20, walk_ins=50), 30),
        (replace(CLASS, seats=20, walk_ins=50, turns_in_flight=8), 20),
        (replace(CLASS, seats=0, walk_ins=50), 30),
        (replace(CLASS, seats=None, walk_ins=50, turns_in_flight=8), 30),
    ],
)
def test_seats_are_promised_and_walk_ins_count_where_they_never_wait(booking: Booking, seats: int) -> None:
    assert seats_of(booking) == seats


def test_classes_at_once_add_up() -> None:
    other = replace(CLASS, id=BookingId("b"), begins=150.0, ends=300.0, expected=12)
    assert demand([CLASS, other], POOL) == Steps(((100.0, 30), (150.0, 42), (200.0, 12), (300.0, 0)))


def test_a_class_that_ends_as_the_next_begins_is_not_counted_with_it() -> None:
    next_one = replace(CLASS, id=BookingId("b"), begins=200.0, ends=300.0)
    assert demand([next_one, CLASS], POOL) == summed([Block(100.0, 300.0, 30)])


def test_each_pool_has_its_own() -> None:
    elsewhere = replace(CLASS, id=BookingId("b"), pool=PoolName("llama"), expected=5)
    assert demand([CLASS, elsewhere], PoolName("llama")) == summed([Block(100.0, 200.0, 5)])
    assert demand([CLASS, elsewhere], PoolName("none")) == Steps()


def test_a_cancelled_class_asks_nothing() -> None:
    cancelled = replace(CLASS, is_cancelled=True, version=2)
    assert demand([cancelled], POOL) == demand([cancelled, CLASS], POOL) == demand([], POOL) == Steps()


def test_a_moved_class_counts_once_where_it_was_moved_to() -> None:
    moved = replace(CLASS, begins=500.0, ends=600.0, version=2)
    away = replace(CLASS, pool=PoolName("llama"), version=3)
    assert current([CLASS, moved]) == current([moved, CLASS]) == (moved,)
    assert demand([moved, CLASS], POOL) == summed([Block(500.0, 600.0, 30)])
    assert demand([moved, CLASS, away], POOL) == Steps()
