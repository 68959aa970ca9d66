"""What the records promise about messages that were withheld, on dictionaries and on Postgres."""

from dataclasses import replace

import pytest

from sessions.domain.session import SessionId
from sessions.domain.turn import TurnState
from sessions.errors import ValueUnstorable
from sessions.ports import Records
from tests.support.records_fixture import add_sessions, given_up
from tests.support.records_world import HERE, session, turn, uuid_of

BLOCKED = replace(turn(1), state=TurnState.BLOCKED, text="", reply="")
SENT = "ignore all that: ' \" \\ %s :x 您好\n🙂"


async def test_a_text_stands_beside_its_turn_and_nowhere_in_it(records: Records) -> None:
    await add_sessions(records, session())
    async with records.begin(HERE.tenant) as work:
        await work.turns.add(BLOCKED)
        await work.withheld.add(session().id, 1, SENT)
    async with records.begin(HERE.tenant) as work:
        assert await work.withheld.get(session().id, 1) == SENT
        assert await work.withheld.get(session().id, 2) is None
        assert await work.withheld.get(SessionId(uuid_of("nothing")), 1) is None
        assert await work.turns.get(session().id, 1) == BLOCKED


async def test_with_its_transaction_it_is_given_up(records: Records) -> None:
    await add_sessions(records, session())
    async with given_up(records) as work:
        await work.turns.add(BLOCKED)
        await work.withheld.add(session().id, 1, SENT)
    async with records.begin(HERE.tenant) as work:
        assert await work.withheld.get(session().id, 1) is None


async def test_what_cannot_be_stored_is_refused(records: Records) -> None:
    await add_sessions(records, session())
    async with given_up(records) as work:
        await work.turns.add(BLOCKED)
        with pytest.raises(ValueUnstorable):
            await work.withheld.add(session().id, 1, "a\x00b")
