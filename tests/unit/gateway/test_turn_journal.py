"""Readers of a running turn, from any place and in any number."""

import asyncio
from uuid import uuid4

import pytest

from gateway.domain.journal import TURN_LOST
from gateway.turn_journal import TurnJournal
from sessions.domain.events import Accepted, Cancelled, Delta, TurnEvent, terminal_place
from sessions.domain.session import SessionId

PIECES = ["He", "llo", " wor", "ld", "。", "再见"]
WHOLE = "".join(PIECES)


def journal() -> TurnJournal:
    return TurnJournal(Accepted(SessionId(uuid4()), 3, "replica-1"))


def finished() -> TurnJournal:
    written = journal()
    for piece in PIECES:
        written.add(piece)
    written.end(Cancelled())
    return written


async def read(source: TurnJournal, after: int = 0) -> list[tuple[int, TurnEvent]]:
    return [item async for item in source.follow(after)]


def text(items: list[tuple[int, TurnEvent]]) -> str:
    return "".join(event.text for _, event in items if isinstance(event, Delta))


async def test_a_reader_gets_everything_in_order() -> None:
    items = await read(finished())
    assert isinstance(items[0][1], Accepted)
    assert text(items) == WHOLE
    assert isinstance(items[-1][1], Cancelled)
    places = [place for place, _ in items]
    assert places == sorted(set(places))
    assert places[-1] == terminal_place(len(WHOLE))


@pytest.mark.parametrize("after", range(len(WHOLE) + 3))
async def test_a_reader_goes_on_at_any_place_without_loss_or_repetition(after: int) -> None:
    items = await read(finished(), after)
    assert text(items) == WHOLE[max(0, after - 1) :]
    assert all(place > after for place, _ in items)
    assert bool(items) == (after < terminal_place(len(WHOLE)))


async def test_a_reader_who_came_early_waits_for_each_piece() -> None:
    source = journal()
    got: list[TurnEvent] = []

    async def follow() -> None:
        async for _, event in source.follow():
            got.append(event)

    async with asyncio.TaskGroup() as group:
        group.create_task(follow())
        for count, piece in enumerate(PIECES, start=2):
            source.add(piece)
            for _ in range(3):  # a few turns of the loop, so that the reader can
                await asyncio.sleep(0)
            assert len(got) == count
        source.end(Cancelled())
    assert [event.text for event in got if isinstance(event, Delta)] == PIECES


async def test_two_readers_both_get_everything() -> None:
    source = journal()
    async with asyncio.TaskGroup() as group:
        readers = [group.create_task(read(source)) for _ in range(2)]
        for piece in PIECES:
            source.add(piece)
            await asyncio.sleep(0)
        source.end(Cancelled())
    assert [text(reader.result()) for reader in readers] == [WHOLE, WHOLE]


async def test_an_empty_piece_is_no_event() -> None:
    source = journal()
    source.add("")
    source.end(Cancelled())
    assert [type(event) for _, event in await read(source)] == [Accepted, Cancelled]


async def test_what_is_told_in_overlapping_parts_is_added_once_and_a_gap_is_noticed() -> None:
    told = journal()
    for end, said, is_joined in (
        (2, "He", True),
        (5, "Hello", True),
        (5, "llo", True),
        (8, "d", False),
        (4, "l", True),
    ):
        assert told.add_until(end, said) is is_joined
    assert (told.text(), told.text(3), told.length) == ("Hello", "lo", 5)


async def test_readers_are_counted_while_they_read() -> None:
    source = finished()
    first, second = source.follow(), source.follow(3)
    await anext(first)
    await anext(second)
    assert source.readers == 2
    await first.aclose()
    assert source.readers == 1
    assert [item async for item in second]
    assert source.readers == 0


async def test_each_change_is_told() -> None:
    source, changes = journal(), list[int]()
    source.changed = lambda: changes.append(source.length)
    source.add("He")
    source.add("")
    source.end(Cancelled())
    assert changes == [2, 2]


async def test_a_cut_lets_readers_go_without_an_end() -> None:
    source = journal()
    source.add("Hello")
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(read(source))
        await asyncio.sleep(0)
        source.cut()
    assert source.is_over
    assert [type(event) for _, event in reading.result()] == [Accepted, Delta]


async def test_who_has_read_more_than_there_is_has_read_a_lost_turn() -> None:
    source = journal()
    source.add("He")
    assert await read(source, 4) == [(5, TURN_LOST)]
    source.end(Cancelled())
    assert await read(source, 5) == [(6, TURN_LOST)]
    late = journal()
    late.may_lag = True
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(read(late, 4))
        await asyncio.sleep(0)
        late.add("Hello")
        late.end(Cancelled())
    assert text(reading.result()) == "lo"
