"""Everybody gets a seat."""

from sessions.adapters.open_seats import OpenSeats
from tests.support.drill_world import drill
from tests.support.records_world import session


async def test_a_full_drill_is_not_full_for_those_who_do_not_count() -> None:
    for name in ("one", "two"):
        await OpenSeats().take(session(name), drill(seats=1, walk_ins=0))
    await OpenSeats().give_back(session("one"))
