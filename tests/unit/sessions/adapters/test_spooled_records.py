"""What waits in the spool is seen as if it were written, and running sessions go on without the records."""

from dataclasses import dataclass, replace

import pytest

from sessions.adapters.local_turn_spool import LocalTurnSpool
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.adapters.spooled_records import SpooledRecords
from sessions.domain.history import history
from sessions.domain.session import Session, SessionFilter
from sessions.domain.spooled import SpooledTurn
from sessions.domain.turn import Turn
from sessions.errors import RecordsUnavailable
from sessions.ports import OutboxEntry
from sessions.use_cases.turn_book import written
from tests.support.records_world import ELSEWHERE, HERE, NOON, note, scenario, session, turn
from tests.support.session_fakes import FragileRecords

RUN = session()
MINE = HERE.as_trainee()


@dataclass
class House:
    real: FragileRecords
    spool: LocalTurnSpool
    sets: MemoryWorkingSets
    records: SpooledRecords

    async def spooled(self, *numbers: int) -> None:
        for number in numbers:
            await self.spool.put(SpooledTurn(at(number - 1), one(number)))

    async def written(self, *numbers: int) -> None:
        for number in numbers:
            await written(self.real, at(number - 1), one(number))


def at(turns: int) -> Session:
    return replace(RUN, version=1 + turns, turn_count=turns)


def one(number: int) -> Turn:
    return turn(number, key=f"key-{number}")


@pytest.fixture
async def house() -> House:
    real, spool, sets = FragileRecords(), LocalTurnSpool(most_turns=99, most_bytes=1 << 22), MemoryWorkingSets()
    async with real.begin() as work:
        await work.scenarios.add(scenario())
        await work.sessions.add(RUN, None)
    return House(real, spool, sets, SpooledRecords(records=real, spool=spool, working_sets=sets))


async def seen(house: House) -> tuple[Session | None, list[int]]:
    async with house.records.begin() as work:
        row = await work.sessions.get(MINE, RUN.id)
        return row, [each.number for each in await work.turns.all(RUN.id)]


async def test_turns_that_wait_stand_behind_those_on_record(house: House) -> None:
    await house.written(1, 2)
    await house.spooled(3, 4)
    assert await seen(house) == (at(4), [1, 2, 3, 4])
    async with house.records.begin() as work:
        assert await work.turns.get(RUN.id, 4) == one(4)
        assert await work.turns.get(RUN.id, 2) == one(2)
        assert await work.turns.get(RUN.id, 5) is None
        assert await work.turns.by_key(RUN.id, "key-3") == one(3)
        assert await work.turns.by_key(RUN.id, "key-1") == one(1)
        assert await work.turns.by_key(RUN.id, "key-9") is None


@pytest.mark.parametrize(
    ("limit", "after", "expected"),
    [(9, 0, [1, 2, 3, 4]), (3, 0, [1, 2, 3]), (2, 0, [1, 2]), (9, 2, [3, 4]), (1, 3, [4])],
)
async def test_a_page_goes_on_with_what_waits(house: House, limit: int, after: int, expected: list[int]) -> None:
    await house.written(1, 2)
    await house.spooled(3, 4)
    async with house.records.begin() as work:
        found = await work.turns.page(RUN.id, limit=limit, after=after)
    assert [each.number for each in found] == expected


async def test_what_was_written_meanwhile_is_seen_once(house: House) -> None:
    await house.spooled(1, 2)
    await house.written(1, 2)
    assert await seen(house) == (at(2), [1, 2])


async def test_nothing_is_seen_behind_a_gap(house: House) -> None:
    await house.spooled(2)
    assert await seen(house) == (RUN, [])


async def test_a_stranger_sees_neither_rows_nor_what_waits(house: House) -> None:
    await house.spooled(1)
    for away in (False, True):
        house.real.away = away
        for stranger in (ELSEWHERE.teacher, HERE.as_trainee(HERE.other_trainee)):
            async with house.records.begin() as work:
                assert await work.sessions.get(stranger, RUN.id) is None


async def test_the_rest_is_the_records_own(house: House) -> None:
    async with house.records.begin() as work:
        await work.notes.add(note(1, to_turn=1))
        assert len(await work.notes.all(RUN.id)) == 1
        await work.outbox.add(OutboxEntry(HERE.tenant, "kind", "subject", {}, NOON))
        assert len(await work.outbox.pending(limit=9)) == 1
        assert len((await work.sessions.list(HERE.teacher, SessionFilter(), limit=9)).items) == 1
        assert len((await work.scenarios.list(HERE.tenant, limit=9)).items) == 1
        content = (await work.scenarios.list(HERE.tenant, limit=9)).items[0].content
        await work.scenarios.add_version(HERE.tenant, RUN.scenario, content, by=HERE.instructor, at=NOON)
        await work.sessions.advance(at(1))
        await work.turns.add(one(1))
    async with house.real.begin() as work:
        assert await work.turns.all(RUN.id) == [one(1)]
        found = await work.scenarios.get(HERE.tenant, RUN.scenario)
    assert found is not None
    assert found.version == 2
    assert house.records.away == 0


async def gone(house: House, *, turns: int = 2) -> None:
    """The records go away after so many turns, of which one more waits."""
    await house.written(*range(1, turns + 1))
    async with house.records.begin() as work:
        await work.scenarios.get(HERE.tenant, RUN.scenario, 1)
    await house.sets.put(at(turns), history([], [one(number) for number in range(1, turns + 1)]))
    house.real.away = True
    await house.spooled(turns + 1)


async def test_a_running_session_is_there_without_the_records(house: House) -> None:
    await gone(house)
    assert await seen(house) == (at(3), [1, 2, 3])
    async with house.records.begin() as work:
        assert await work.turns.get(RUN.id, 2) == one(2)
        assert await work.turns.get(RUN.id, 3) == one(3)
        assert await work.turns.get(RUN.id, 4) is None
        assert list(await work.turns.page(RUN.id, limit=1, after=1)) == [one(2)]
        assert list(await work.turns.page(RUN.id, limit=9, after=3)) == []
        assert await work.turns.by_key(RUN.id, "key-1") == one(1)
        assert await work.turns.by_key(RUN.id, "key-3") == one(3)
        assert await work.turns.by_key(RUN.id, "key-9") is None
        found = await work.scenarios.get(HERE.tenant, RUN.scenario, 1)
    assert found == scenario()
    assert house.records.away == 2


async def test_once_the_working_set_has_grown_too_it_is_the_same(house: House) -> None:
    await gone(house)
    await house.sets.put(at(3), history([], [one(1), one(2), one(3)]))
    assert await seen(house) == (at(3), [1, 2, 3])


async def test_what_waits_is_enough_to_know_the_session(house: House) -> None:
    house.real.away = True
    await house.spooled(1)
    async with house.records.begin() as work:
        assert await work.sessions.get(MINE, RUN.id) == at(1)


async def test_turns_that_notes_cover_are_not_at_hand(house: House) -> None:
    await house.sets.put(at(2), history([note(1, to_turn=1)], [one(1), one(2)]))
    house.real.away = True
    async with house.records.begin() as work:
        assert await work.turns.get(RUN.id, 2) == one(2)
        for asked in (work.turns.get(RUN.id, 1), work.turns.all(RUN.id), work.turns.page(RUN.id, limit=9)):
            with pytest.raises(RecordsUnavailable):
                await asked


async def test_a_session_that_nobody_remembers_is_refused(house: House) -> None:
    house.real.away = True
    async with house.records.begin() as work:
        with pytest.raises(RecordsUnavailable):
            await work.sessions.get(MINE, RUN.id)
        with pytest.raises(RecordsUnavailable):
            await work.turns.all(RUN.id)
        assert await work.turns.by_key(RUN.id, "key-1") is None


async def test_every_change_and_every_list_is_refused(house: House) -> None:
    await gone(house)
    async with house.records.begin() as work:
        for asked in (
            work.scenarios.add(scenario()),
            work.scenarios.add_version(HERE.tenant, RUN.scenario, scenario().content, by=HERE.instructor, at=NOON),
            work.scenarios.get(HERE.tenant, RUN.scenario),
            work.scenarios.get(HERE.tenant, RUN.scenario, 2),
            work.scenarios.list(HERE.tenant, limit=9),
            work.sessions.add(RUN, None),
            work.sessions.list(MINE, SessionFilter(), limit=9),
            work.sessions.advance(at(3)),
            work.turns.add(one(3)),
            work.notes.add(note()),
            work.notes.all(RUN.id),
            work.outbox.add(OutboxEntry(HERE.tenant, "kind", "subject", {}, NOON)),
            work.outbox.pending(limit=9),
        ):
            with pytest.raises(RecordsUnavailable):
                await asked


async def found(house: House, turn: int | str | None = None) -> tuple[Session, Turn | None]:
    answer = await house.records.find(MINE, RUN.id, turn)
    assert answer is not None
    return answer.session, answer.turn


@pytest.mark.parametrize("away", [False, True], ids=["with the records", "without them"])
async def test_a_question_sees_what_waits_too(house: House, *, away: bool) -> None:
    await gone(house)
    house.real.away = away
    assert await found(house) == (at(3), None)
    assert await found(house, 2) == (at(3), one(2))
    assert await found(house, 3) == (at(3), one(3))
    assert await found(house, 4) == (at(3), None)
    assert await found(house, "key-1") == (at(3), one(1))
    assert await found(house, "key-3") == (at(3), one(3))
    assert await found(house, "key-9") == (at(3), None)
    assert await house.records.find(ELSEWHERE.teacher, RUN.id, 3) is None
    assert await house.records.content(HERE.tenant, RUN.scenario, 1) == scenario().content
    assert house.records.away == (8 if away else 0)


async def test_what_a_version_says_is_read_once(house: House) -> None:
    assert await house.records.content(HERE.tenant, RUN.scenario, 2) is None
    assert await house.records.content(HERE.tenant, RUN.scenario, 1) == scenario().content
    house.real.away = True
    assert await house.records.content(HERE.tenant, RUN.scenario, 1) == scenario().content
    for tenant, version in ((ELSEWHERE.tenant, 1), (HERE.tenant, 2)):
        with pytest.raises(RecordsUnavailable):
            await house.records.content(tenant, RUN.scenario, version)


async def test_a_turn_is_written_by_the_records_or_not_at_all(house: House) -> None:
    entry = OutboxEntry(HERE.tenant, "kind", "subject", {}, NOON)
    assert await house.records.add_turn(at(1), one(1), entry) == at(1)
    house.real.away = True
    with pytest.raises(RecordsUnavailable):
        await house.records.add_turn(at(2), one(2), entry)
    with pytest.raises(RecordsUnavailable):
        await house.records.advance(at(2), entry)
    assert house.records.away == 2
    house.real.away = False
    assert await house.records.advance(at(2), entry) == at(2)
