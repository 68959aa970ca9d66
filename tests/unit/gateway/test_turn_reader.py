"""A turn of the record as its readers see it."""

import pytest

from gateway.domain.journal import TURN_LOST
from gateway.turn_reader import stored
from sessions.domain.events import Delta, Done, terminal_place
from tests.support.records_world import turn

LENGTH = len(turn().reply)


@pytest.mark.parametrize("after", range(LENGTH + 3))
async def test_the_rest_is_read_from_any_place(after: int) -> None:
    events = [each async for each in stored(turn()).events(after)]
    assert "".join(event.text for _, event in events if isinstance(event, Delta)) == turn().reply[max(0, after - 1) :]
    assert [event for _, event in events if isinstance(event, Done)] == [Done(turn())] * (after < LENGTH + 2)


async def test_who_has_more_than_there_is_has_read_a_turn_that_was_lost() -> None:
    after = terminal_place(LENGTH) + 1
    assert [each async for each in stored(turn()).events(after)] == [(after + 1, TURN_LOST)]


def test_it_ran_where_the_record_says() -> None:
    reader = stored(turn())
    assert (reader.number, reader.replica, reader.pin, reader.standing) == (1, "vllm-0", None, ())
