"""Running turns are written behind them, in few steps, through every loss of the store; watchers hear at once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import pytest
from typing_extensions import override

from gateway import journal_writer
from gateway.adapters.memory_journals import MemoryJournals, MemoryMail
from gateway.domain.journal import Cancel, Head, KeptJournal, Leave, Letter, Mode, News, Outcome, Page, Place, Watch
from gateway.errors import JournalUnavailable
from gateway.journal_writer import JournalWriter
from gateway.turn_journal import TurnJournal
from sessions.domain.events import Accepted, Cancelled
from sessions.domain.session import SessionId
from tests.support.eventually import eventually

SESSION = SessionId(uuid4())


class CountingJournals(MemoryJournals):
    """Notes each step, and how many pages it had."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[int] = []
        self.asked = 0
        self.going_on = asyncio.Event()
        self.going_on.set()

    @override
    async def write(self, pages: Sequence[Page]) -> Sequence[Outcome]:
        self.asked += 1
        await self.going_on.wait()
        self.steps.append(len(pages))
        return await super().write(pages)


@dataclass
class Desk:
    journals: CountingJournals = field(default_factory=CountingJournals)
    boxes: dict[str, asyncio.Queue[Letter]] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)
    writer: JournalWriter = field(init=False)
    mail: MemoryMail = field(init=False)

    def __post_init__(self) -> None:
        self.mail = MemoryMail(name="here", boxes=self.boxes)
        self.writer = JournalWriter(journals=self.journals, mail=self.mail, write_every_s=0.02)

    def turn(self, number: int = 1, attempt: str = "a") -> TurnJournal:
        head = Head(SESSION, number, attempt, "here", "r1", "new")
        journal = TurnJournal(Accepted(SESSION, number, "r1"))
        self.writer.open(head, journal, stop=lambda: self.stopped.append(attempt))
        return journal

    async def kept(self, number: int = 1) -> KeptJournal | None:
        return await self.journals.read(SESSION, number)

    async def written(self, text: str, number: int = 1) -> None:
        """Wait until the store has it."""
        await eventually(lambda: (has := self.journals._kept.get((SESSION, number))) is not None and has.text == text)


@asynccontextmanager
async def desk() -> AsyncIterator[Desk]:
    one = Desk()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(one.writer.run())
        yield one
        running.cancel()


def place(had: int, attempt: str = "a") -> Place:
    return Place(SESSION, 1, attempt, had)


def watcher(one: Desk, name: str = "there") -> asyncio.Queue[Letter]:
    box = one.boxes[name] = asyncio.Queue[Letter]()
    return box


async def heard(box: "asyncio.Queue[Letter]", text: str, had: int = 0) -> News:
    """The letters to this watcher until it has the text."""
    said = ""
    while True:
        letter = await asyncio.wait_for(box.get(), 5)
        assert isinstance(letter, News)
        (passage,) = letter.passages
        assert passage.end - len(passage.text) == had + len(said)
        said += passage.text
        if said == text:
            return letter


async def test_a_turn_is_written_from_its_head_to_its_end() -> None:
    async with desk() as one:
        journal = one.turn()
        await one.written("")
        for piece in ("您", "好 ", "🙂"):
            journal.add(piece)
        await one.written("您好 🙂")
        journal.add("!")
        journal.end(Cancelled())
        await eventually(lambda: one.journals._kept[SESSION, 1].terminal is not None)
        assert await one.kept() == KeptJournal(Head(SESSION, 1, "a", "here", "r1", "new"), "您好 🙂!", Cancelled())
        assert one.writer._turns == {}


async def test_what_comes_while_a_page_is_written_waits_for_the_next_and_all_turns_share_it() -> None:
    async with desk() as one:
        turns = [one.turn(number, str(number)) for number in range(1, 21)]
        await one.written("", 20)
        one.journals.going_on.clear()
        one.journals.steps.clear()
        turns[0].add("x")
        await asyncio.sleep(0.05)
        for letter in "abcdefghij":
            for turn in turns:
                turn.add(letter)
        one.journals.going_on.set()
        for number in range(2, 21):
            await one.written("abcdefghij", number)
        assert len(one.journals.steps) <= 3
        assert max(one.journals.steps) == 20


async def test_many_turns_are_written_in_steps_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_writer, "_MOST_PAGES", 8)
    async with desk() as one:
        for number in range(1, 31):
            one.turn(number, str(number))
        for number in range(1, 31):
            await one.written("", number)
        assert max(one.journals.steps) == 8


async def test_a_store_that_was_emptied_is_filled_again() -> None:
    async with desk() as one:
        journal = one.turn()
        journal.add("Hello")
        await one.written("Hello")
        one.journals.flush()
        journal.add(" there.")
        await one.written("Hello there.")


async def test_a_store_that_was_emptied_is_filled_again_though_nothing_new_is_said() -> None:
    async with desk() as one:
        quiet, busy = one.turn(), one.turn(2, "busy")
        quiet.add("Hello")
        await one.written("Hello")
        one.journals.flush()

        def is_there() -> bool:
            busy.add("x")
            return (has := one.journals._kept.get((SESSION, 1))) is not None and has.text == "Hello"

        await eventually(is_there)


async def test_what_was_being_written_when_the_process_stops_is_written_all_the_same() -> None:
    one = Desk()
    one.journals.going_on.clear()
    one.turn().end(Cancelled())
    running = asyncio.ensure_future(one.writer.run())
    await eventually(lambda: one.journals.asked > 0)
    running.cancel()
    await asyncio.wait([running])
    one.journals.going_on.set()
    await one.writer.finish()
    assert (kept := await one.kept()) is not None
    assert kept.terminal == Cancelled()


async def test_a_store_that_is_away_is_written_to_once_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_writer, "_AWAY_S", 0.01)
    async with desk() as one:
        ended, running = one.turn(1, "ended"), one.turn(2, "running")
        await one.written("", 2)
        one.journals.away = True
        running.add("Hello")
        ended.add("Bye")
        ended.end(Cancelled())
        await eventually(lambda: one.writer.failures > 2)
        one.journals.away = False
        await one.written("Hello", 2)
        await one.written("Bye", 1)
        assert list(one.writer._turns) == ["running"]


async def test_what_has_ended_is_not_kept_for_ever_for_a_store_that_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_writer, "_AWAY_S", 0.01)
    monkeypatch.setattr(journal_writer, "_KEEP_ENDED_S", 0.05)
    async with desk() as one:
        one.journals.away = True
        ended, _ = one.turn(1, "ended"), one.turn(2, "running")
        ended.end(Cancelled())
        await eventually(lambda: list(one.writer._turns) == ["running"])


async def test_a_turn_whose_place_was_taken_is_written_no_more() -> None:
    async with desk() as one:
        journal = one.turn()
        await one.written("")
        await one.journals.write([Page(Head(SESSION, 1, "later", "there", "r2", "new"), Mode.OPEN, 2, "No", None)])
        journal.add("Hello")
        await eventually(lambda: one.writer._turns == {})
        journal.add(" there.")
        assert await one.kept() == KeptJournal(Head(SESSION, 1, "later", "there", "r2", "new"), "No", None)


async def test_a_fault_in_one_turn_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as one:
        broken, well = one.turn(1, "broken"), one.turn(2, "well")
        await one.written("", 2)
        monkeypatch.setattr(broken, "text", None)
        broken.add("x")
        await eventually(lambda: one.writer.failures > 0)
        well.add("Hello")
        await one.written("Hello", 2)


async def test_who_watches_hears_the_rest_from_its_place_and_the_end() -> None:
    async with desk() as one:
        box, journal = watcher(one), one.turn()
        journal.add("Hello")
        assert not one.writer.is_watched("a")
        one.writer.watch(Watch("there", (place(2),)))
        assert one.writer.is_watched("a")
        await heard(box, "llo", 2)
        journal.add(" there.")
        await heard(box, " there.", 5)
        journal.add("!")
        journal.end(Cancelled())
        assert (await heard(box, "!", 12)).passages[0].terminal == Cancelled()
        await eventually(lambda: one.writer._turns == {})


async def test_who_says_again_that_it_watches_hears_what_it_has_missed() -> None:
    async with desk() as one:
        box, journal = watcher(one), one.turn()
        one.writer.watch(Watch("there", (place(0),)))
        journal.add("Hello")
        await heard(box, "Hello")
        one.writer.watch(Watch("there", (place(1),)))
        await heard(box, "ello", 1)


async def test_one_letter_tells_of_all_that_a_process_watches() -> None:
    async with desk() as one:
        box = watcher(one)
        turns = {attempt: one.turn(number, attempt) for number, attempt in enumerate("abcd", 1)}
        one.writer.watch(Watch("there", tuple(place(0, attempt) for attempt in turns)))
        assert isinstance(first := await asyncio.wait_for(box.get(), 5), News)
        assert {passage.attempt for passage in first.passages} == set(turns)


async def test_who_leaves_or_falls_silent_or_is_gone_watches_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as one:
        one.turn()
        watcher(one)
        one.writer.watch(Watch("there", (place(0), Place(SESSION, 9, "unknown", 0))))
        one.writer.leave(Leave("there", (place(0),)))
        assert not one.writer.is_watched("a")
        one.writer.watch(Watch("nowhere", (place(0),)))
        await eventually(lambda: not one.writer.is_watched("a"))
        monkeypatch.setattr(journal_writer, "WATCH_S", 0.05)
        one.writer.watch(Watch("there", (place(0),)))
        assert one.writer.is_watched("a")
        await eventually(lambda: not one.writer.is_watched("a"))


async def test_a_letter_that_could_not_be_sent_is_sent_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_writer, "_AWAY_S", 0.01)
    async with desk() as one:
        box, journal = watcher(one), one.turn()
        one.mail.away = True
        one.writer.watch(Watch("there", (place(0),)))
        journal.add("Hello")
        await eventually(lambda: one.writer.failures > 0)
        one.mail.away = False
        await heard(box, "Hello")


async def test_a_turn_is_stopped_by_a_letter() -> None:
    async with desk() as one:
        one.turn()
        one.writer.cancel(Cancel(SESSION, 1, "another"))
        assert one.stopped == []
        one.writer.cancel(Cancel(SESSION, 1, "a"))
        assert one.stopped == ["a"]


async def test_at_the_end_everything_is_written_and_told_unless_nobody_takes_it() -> None:
    one = Desk()
    box, journal = watcher(one), one.turn()
    journal.add("Hello")
    one.writer.watch(Watch("there", (place(0),)))
    journal.end(Cancelled())
    await one.writer.finish()
    await heard(box, "Hello")
    kept = await one.kept()
    assert kept is not None
    assert (kept.text, kept.terminal) == ("Hello", Cancelled())
    one.turn(2, "b").add("Lost")
    one.journals.away = True
    await one.writer.finish()
    with pytest.raises(JournalUnavailable):
        await one.kept(2)
