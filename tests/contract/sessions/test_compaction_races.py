"""Turns and folds of two processes at once, a thousand times: no turn is lost or doubled, and the notes stay whole."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise

import pytest
from typing_extensions import override

from gateway.use_cases import Outside, UseCases, use_cases
from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.adapters.memory_records import MemoryRecords
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.compaction import Marks
from sessions.domain.history import history
from sessions.domain.note import live_notes
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn, TurnState
from sessions.ports import Piece, Records, ReplyEnd, TutorReply, TutorRequest
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.start_session import SessionOrder
from tests.support.counted_seats import CountedSeats
from tests.support.moderated import moderation
from tests.support.records_world import CONTENT, HERE, scenario
from tests.support.session_fakes import SHARES, FakeClock, FakeReply, FakeTiers, FakeTutor, OpenLock, WordCounter

MARKS = Marks(low=4, high=8)
TURNS = CONTENT.max_turns
TRAINEE = HERE.as_trainee()


class UnsteadyTutor(FakeTutor):
    """Gives way to the others a few times before it answers, by chance; now and then it breaks."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self._dice = dice

    @override
    @asynccontextmanager
    async def reply(self, request: TutorRequest) -> AsyncIterator[TutorReply]:
        for _ in range(self._dice.randrange(12)):
            await asyncio.sleep(0)
        yield UnsteadyReply(["They talked of the renewal."] if request.name else ["好的。"], dice=self._dice)


class UnsteadyReply(FakeReply):
    def __init__(self, script: list[str], *, dice: random.Random) -> None:
        super().__init__(script)
        self._dice = dice

    @override
    async def _play(self) -> AsyncIterator[Piece | ReplyEnd]:
        async for item in super()._play():
            for _ in range(self._dice.randrange(6)):
                await asyncio.sleep(0)
            yield item


@pytest.fixture
def races(records: Records) -> int:
    """How often turns and folds meet; on Postgres, where each meeting costs milliseconds, a tenth of it."""
    return 1000 if isinstance(records, MemoryRecords) else 100


def processes(records: Records, outcomes: Counter[str], dice: random.Random) -> list[UseCases]:
    """Two of them, on one Redis; nothing but the records keeps their turns apart."""
    outside = Outside(
        records=records,
        lock=OpenLock(),
        tutor=UnsteadyTutor(dice),
        clock=FakeClock(),
        working_sets=MemoryWorkingSets(),
        tiers=FakeTiers(),
        writers={"fake": PromptWriter(model="fake", counter=WordCounter(), shares=SHARES, marks=MARKS)},
        catalogue=MemoryKnowledge(),
        drills=MemoryDrills(),
        seats=CountedSeats(),
        moderation=moderation(),
        compacted=lambda outcome: outcomes.update([outcome]),
    )
    return [use_cases(outside), use_cases(replace(outside, clock=FakeClock()))]


async def play(process: UseCases, session: SessionId, text: str) -> Turn:
    async with process.take_turn.begin(TurnOrder(TRAINEE, session, text)) as turn:
        return await turn.run(lambda _: None)


async def race(both: list[UseCases], session: SessionId, number: int) -> list[Turn]:
    """A turn in each process, and a fold in each; the turns that say that they were written."""
    one, other = both
    ended = await asyncio.gather(
        play(one, session, f"one {number}"),
        play(other, session, f"other {number}"),
        one.compact_session(TRAINEE, session),
        other.compact_session(TRAINEE, session),
    )
    return [turn for turn in ended if turn is not None and turn.state is TurnState.COMPLETED]


async def test_turns_and_folds_that_meet_lose_nothing(records: Records, races: int) -> None:
    dice, outcomes = random.Random(11), Counter[str]()  # noqa: S311
    both = processes(records, outcomes, dice)
    left = races
    while left > 0:
        session = await both[0].start_session(SessionOrder(TRAINEE, scenario().id, {}))
        acknowledged: list[Turn] = []
        while len(acknowledged) < TURNS - 1 and left > 0:
            acknowledged += await race(both, session.id, len(acknowledged))
            left -= 1
        await is_whole(records, session, acknowledged)
    assert outcomes["folded"] > races // 20
    assert outcomes["overtaken"] > races // 50
    assert set(outcomes) <= {"folded", "overtaken", "merged"}


async def is_whole(records: Records, session: Session, acknowledged: list[Turn]) -> None:
    """What was acknowledged is there once, and the notes cover the beginning without a gap."""
    async with records.begin() as work:
        row = await work.sessions.get(TRAINEE, session.id)
        turns = list(await work.turns.all(session.id))
        notes = list(await work.notes.all(session.id))
    assert row is not None
    assert turns == sorted(acknowledged, key=lambda turn: turn.number)
    assert [turn.number for turn in turns] == list(range(1, row.turn_count + 1))
    assert [note.seq for note in notes] == list(range(1, row.note_count + 1))
    live = live_notes(notes)
    assert not live or live[0].from_turn == 1
    assert all(before.to_turn + 1 == after.from_turn for before, after in pairwise(live))
    assert all(note.to_turn <= row.turn_count for note in notes)
    kept = history(notes, turns).turns
    assert len(kept) >= min(MARKS.low, len(turns))
