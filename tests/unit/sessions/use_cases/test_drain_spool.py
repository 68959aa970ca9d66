"""What waits is written once, in order, and nothing is dropped in silence."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from sessions.adapters.local_turn_spool import LocalTurnSpool
from sessions.domain.session import SessionId, with_turn
from sessions.domain.spooled import Fate, SpooledTurn
from sessions.domain.viewer import TenantId
from sessions.errors import RecordsUnavailable
from sessions.ports import UnitOfWork
from sessions.use_cases.drain_spool import DrainSpool
from sessions.use_cases.turn_book import written
from tests.support.records_world import turn
from tests.support.session_fakes import FragileRecords
from tests.support.stage import Stage, staged


def a_spool() -> LocalTurnSpool:
    return LocalTurnSpool(most_turns=100, most_bytes=1 << 22)


def spooled(stage: Stage, number: int, text: str = "") -> SpooledTurn:
    before = replace(stage.session, version=number, turn_count=number - 1)
    made = turn(number, of=stage.session)
    return SpooledTurn(before, replace(made, text=text or made.text))


async def outbox_of(stage: Stage) -> Counter[object]:
    async with stage.records.begin() as work:
        entries = await work.outbox.pending(limit=99)
    return Counter(entry.facts["turn"] for entry in entries if entry.kind.startswith("turn."))


async def test_turns_are_written_in_their_order_with_session_and_outbox() -> None:
    stage, spool = await staged(), a_spool()
    for number in (3, 1, 2):
        await spool.put(spooled(stage, number))
    drain = DrainSpool(records=stage.records, spool=spool)
    assert await drain() == 3
    assert await stage.turns() == [spooled(stage, number).turn for number in (1, 2, 3)]
    assert await outbox_of(stage) == {1: 1, 2: 1, 3: 1}
    async with stage.records.begin() as work:
        assert await work.sessions.get(stage.trainee, stage.session.id) == replace(
            stage.session, version=4, turn_count=3
        )
    assert await spool.waiting(limit=9) == []
    assert await drain() == 0


async def test_a_turn_whose_commit_had_taken_effect_is_written_once() -> None:
    stage, spool = await staged(), a_spool()
    await written(stage.records, stage.session, spooled(stage, 1).turn)
    await spool.put(spooled(stage, 1))
    await spool.put(spooled(stage, 2))
    assert await DrainSpool(records=stage.records, spool=spool)() == 2
    assert await outbox_of(stage) == {1: 1, 2: 1}


async def test_a_turn_waits_for_the_one_before_it() -> None:
    stage, spool = await staged(), a_spool()
    await spool.put(spooled(stage, 2))
    drain = DrainSpool(records=stage.records, spool=spool)
    assert (await drain(), spool.count) == (0, 1)
    await written(stage.records, stage.session, spooled(stage, 1).turn)
    assert (await drain(), spool.count) == (1, 0)
    assert await outbox_of(stage) == {1: 1, 2: 1}


async def test_a_turn_that_lost_its_place_is_kept_aside_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    stage, spool = await staged(), a_spool()
    await written(stage.records, stage.session, spooled(stage, 1, "faster").turn)
    for number in (1, 2):
        await spool.put(spooled(stage, number, "of the lost way"))
    drain = DrainSpool(records=stage.records, spool=spool)
    assert await drain() == 2
    assert drain.drained == {Fate.CONFLICT: 1, Fate.WRITTEN: 1}
    assert [each.turn.number for each in spool.aside] == [1]
    assert [each.text for each in await stage.turns()] == ["faster", "of the lost way"]
    told = capsys.readouterr().out
    assert "set aside" in told
    assert "lost way" not in told


async def test_what_the_records_cannot_hold_does_not_stop_the_others() -> None:
    stage, spool = await staged(), a_spool()
    other = await staged()
    await spool.put(spooled(stage, 1, "a NUL \x00"))
    await spool.put(spooled(stage, 2))
    assert await DrainSpool(records=stage.records, spool=spool)() == 1
    assert [each.turn.text for each in spool.aside] == ["a NUL \x00"]
    assert other.session.id != stage.session.id


class _Faulty(LocalTurnSpool):
    """Does not know what to make of the turns of one session, which has waited longest."""

    faulty = SessionId(uuid4())

    @override
    async def waiting(self, *, limit: int) -> Sequence[SessionId]:
        return [self.faulty, *await super().waiting(limit=limit)]

    @override
    async def of(self, session: SessionId) -> Sequence[SpooledTurn]:
        if session == self.faulty:
            raise ValueError("what is this?")
        return await super().of(session)


async def test_a_fault_with_one_session_is_told_and_keeps_no_other_waiting() -> None:
    stage, spool = await staged(), _Faulty(most_turns=9, most_bytes=1 << 20)
    await spool.put(spooled(stage, 1))
    with pytest.raises(ValueError, match="what is this"):
        await DrainSpool(records=stage.records, spool=spool)()
    assert (await stage.turns(), spool.count) == ([spooled(stage, 1).turn], 0)


async def test_records_that_are_still_away_leave_everything_where_it_is() -> None:
    stage, spool = await staged(), a_spool()
    await spool.put(spooled(stage, 1))
    stage.records.away = True
    assert (await DrainSpool(records=stage.records, spool=spool)(), spool.count) == (0, 1)


class _Unsure(FragileRecords):
    """Each step of its list says how the next transaction ends: well, lost before the commit, or lost after it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[str] = []

    @override
    @asynccontextmanager
    async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
        step = self.steps.pop(0) if self.steps else "well"
        if step == "before":
            raise RecordsUnavailable("lost")
        async with super().begin(tenant) as work:
            yield work
        if step == "after":
            raise RecordsUnavailable("its answer was lost")


@settings(max_examples=60)
@given(
    steps=st.lists(st.sampled_from(["well", "before", "after"]), max_size=20),
    twice=st.sets(st.integers(1, 4)),
)
async def test_whatever_is_lost_on_the_way_each_turn_is_written_once(steps: list[str], twice: set[int]) -> None:
    stage = await staged()
    records, spools = _Unsure(), [a_spool(), a_spool()]
    async with stage.records.begin() as there, records.begin() as work:
        scenario = await there.scenarios.get(stage.session.tenant, stage.session.scenario)
        assert scenario is not None
        await work.scenarios.add(scenario)
        await work.sessions.add(stage.session, None)
    for number in range(1, 5):
        await spools[number % 2].put(spooled(stage, number))
        if number in twice:
            await spools[(number + 1) % 2].put(spooled(stage, number))
    records.steps = list(steps)
    drains = [DrainSpool(records=records, spool=spool) for spool in spools]
    for _ in range(len(steps) + 5):
        await asyncio.gather(*(drain() for drain in drains))
    records.steps.clear()  # of those that nothing was left for
    async with records.begin() as work:
        assert await work.turns.all(stage.session.id) == [spooled(stage, number).turn for number in range(1, 5)]
        row = await work.sessions.get(stage.trainee, stage.session.id)
        entries = await work.outbox.pending(limit=99)
    assert row == replace(stage.session, version=5, turn_count=4)
    assert with_turn(spooled(stage, 4).session) == row
    assert [entry.facts["turn"] for entry in entries] == [1, 2, 3, 4]
    assert [spool.count for spool in spools] == [0, 0]
    assert [spool.aside for spool in spools] == [[], []]
