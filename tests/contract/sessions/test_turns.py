"""What the records promise about turns, on dictionaries and on Postgres."""

from dataclasses import replace

import pytest

from sessions.domain.citation import Citation, DocumentId
from sessions.domain.moderation import Action, BlockReason, Direction, Judgement, Mark, Source
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.domain.turn import Timings, TurnError, TurnState
from sessions.errors import SessionMoved
from sessions.ports import Records
from tests.support.records_fixture import add_sessions
from tests.support.records_world import (
    HERE,
    failed,
    session,
    turn,
    uuid_of,
)


async def test_a_turn_comes_back_as_it_was_written(records: Records) -> None:
    await add_sessions(records, session())
    odd = replace(
        turn(2, key="k"),
        state=TurnState.FAILED,
        reply="",
        finish_reason=None,
        timings=Timings(),
        replica=None,
        continued=True,
        error=TurnError("tutor_broke", "the reply did not end", retryable=True),
        scene="closing",
        model="qwen-small",
        tier=Tier.SENSITIVE,
        fell_back=True,
        citations=(
            Citation(DocumentId(uuid_of("terms")), "条款 terms.md", 3, "Returns > 退货", 7.25),
            Citation(DocumentId(uuid_of("prices")), "prices.pdf", 1, "", 0.5),
        ),
    )
    marks = (
        Mark(Direction.INPUT, Source.INJECTION, "override", "instruction override", 4, Action.BLOCK, score=0.83),
        Mark(Direction.OUTPUT, Source.PHRASE, "r1", "fraud", 2, Action.MASK, "销售", 3, 1, 4, "ab12"),
    )
    judged = Judgement(marks, BlockReason.INJECTION, ("问候",))
    blocked = replace(turn(3), state=TurnState.BLOCKED, text="", reply="", replica=None, moderation=judged)
    async with records.begin(HERE.tenant) as work:
        for each in (turn(1), odd, blocked):
            await work.turns.add(each)
    async with records.begin(HERE.tenant) as work:
        assert list(await work.turns.all(session().id)) == [turn(1), odd, blocked]
        assert await work.turns.get(session().id, 2) == odd
        assert await work.turns.get(session().id, 4) is None


async def test_turns_are_paged_by_number(records: Records) -> None:
    await add_sessions(records, session(), session("other"))
    async with records.begin(HERE.tenant) as work:
        for number in (3, 1, 2, 4):
            await work.turns.add(turn(number))
        await work.turns.add(turn(1, of=session("other")))
        assert [one.number for one in await work.turns.page(session().id, limit=2)] == [1, 2]
        assert [one.number for one in await work.turns.page(session().id, limit=9, after=2)] == [3, 4]
        assert [one.number for one in await work.turns.all(session().id)] == [1, 2, 3, 4]
        assert await work.turns.all(SessionId(uuid_of("nothing"))) == []


async def test_a_taken_number_is_refused_and_the_transaction_goes_on(records: Records) -> None:
    await add_sessions(records, session())
    async with records.begin(HERE.tenant) as work:
        await work.turns.add(turn(1))
        with pytest.raises(SessionMoved):
            await work.turns.add(replace(turn(1), text="another"))
        assert await work.turns.get(session().id, 1) == turn(1)


async def test_a_turn_of_no_session_is_refused(records: Records) -> None:
    async with records.begin(HERE.tenant) as work:
        with pytest.raises(SessionMoved):
            await work.turns.add(turn(1))


async def test_a_key_names_one_turn_that_did_not_fail(records: Records) -> None:
    await add_sessions(records, session(), session("other"))
    async with records.begin(HERE.tenant) as work:
        await work.turns.add(failed(turn(1, key="k")))
        await work.turns.add(failed(turn(2, key="k")))
        assert await work.turns.by_key(session().id, "k") == failed(turn(2, key="k"))
        await work.turns.add(turn(3, key="k"))
        with pytest.raises(SessionMoved):
            await work.turns.add(turn(4, key="k"))
        await work.turns.add(turn(4, key="another"))
        await work.turns.add(turn(5))
        await work.turns.add(turn(1, of=session("other"), key="k"))
        assert await work.turns.by_key(session().id, "k") == turn(3, key="k")
        assert await work.turns.by_key(session().id, "nothing") is None
        assert await work.turns.by_key(session("other").id, "another") is None
