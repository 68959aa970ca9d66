"""Readers of a running turn, from any place and in any number."""

import asyncio
from uuid import uuid4

import pytest

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
