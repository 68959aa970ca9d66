"""Turns read from a process that does not run them, at every cut, whatever becomes of the one that does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import followed_turns
from gateway.domain.journal import TURN_LOST, Head, Leave, Letter, Mode, News, Page, Passage, Place, Watch
from gateway.errors import JournalUnavailable
from gateway.shared_turns import SharedTurns
from gateway.turn_reader import TurnReader
from sessions.domain.events import Accepted, Cancelled, Delta, Done, Terminal, TurnEvent, terminal_place
from tests.support.eventually import eventually
from tests.support.shared_turns import Neighbourhood
from tests.support.stage import Stage, staged

TEXT = "Hello there."
"""What the stage's tutor answers."""
Read = list[tuple[int, TurnEvent]]


def text(events: Read) -> str:
    return "".join(event.text for _, event in events if isinstance(event, Delta))


async def read(reader: TurnReader, after: int = 0) -> Read:
    return [each async for each in reader.events(after)]


@dataclass
class Scene:
    """This process follows a turn of another one, whose part is played by hand."""

    stage: Stage
    place: Neighbourhood
    here: SharedTurns
    head: Head
    letters: "asyncio.Queue[Letter]"

    async def keep(self, end: int, *, of: Head | None = None, terminal: Terminal | None = None) -> None:
        """Let the store have the first characters."""
        page = Page(of or self.head, Mode.OPEN, end, TEXT[:end], terminal)
        await self.place.journals.write([page])

    def tell(self, begin: int, end: int, terminal: Terminal | None = None) -> None:
        """Send what stands between."""
        head = self.head
        passage = Passage(head.session, head.turn, head.attempt, end, TEXT[begin:end], terminal)
        self.place.boxes["here"].put_nowait(News((passage,)))

    async def reader(self) -> TurnReader:
        found = await self.here.find(self.stage.trainee, self.head.session, self.head.turn)
        assert found is not None
        return found

    def lose_the_process(self) -> None:
        del self.place.boxes["there"]

    def lose_the_lease(self) -> None:
        self.place.journals.leases.clear()


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    stage, place = await staged(), Neighbourhood()
    letters = place.boxes["there"] = asyncio.Queue[Letter]()
    place.journals.leases.add(stage.session.id)
    head = Head(stage.session.id, 1, "attempt", "there", "replica-1", "kept")
    async with place.living("here", stage.use.read_turn) as here:
        await eventually(lambda: "here" in place.boxes)
        yield Scene(stage, place, here, head, letters)


@pytest.fixture
async def followed() -> AsyncIterator[Scene]:
    async with scene() as one:
        await one.keep(0)
        yield one


@given(
    cuts=st.lists(st.integers(0, len(TEXT)), max_size=6), after=st.integers(0, len(TEXT) + 2), kept=st.integers(0, 12)
)
@settings(max_examples=60)
async def test_at_every_cut_the_rest_comes_once(cuts: list[int], after: int, kept: int) -> None:
    """Whatever is kept, whatever is told (also twice, also with gaps), and whatever the reader has already."""
    async with scene() as one:
        await one.keep(kept)
        reader = await one.reader()
        reading = asyncio.ensure_future(read(reader, after))
        for begin, end in zip(sorted(cuts), sorted(cuts)[1:], strict=False):
            one.tell(begin, end)
        one.tell(kept, len(TEXT), Cancelled())
        events = await asyncio.wait_for(reading, 5)
    assert text(events) == TEXT[max(0, after - 1) :]
    places = [place for place, _ in events]
    assert places == sorted(set(places))
    assert all(place > after for place in places)
    assert bool(events) == (after < terminal_place(len(TEXT)))


async def test_a_reader_begins_with_what_is_kept_and_says_that_it_watches(followed: Scene) -> None:
    await followed.keep(5)
    reader = await followed.reader()
    assert (reader.number, reader.replica, reader.pin) == (1, "replica-1", "kept")
    head = followed.head
    assert await followed.letters.get() == Watch("here", (Place(head.session, 1, "attempt", 5),))
    async with aclosing(reader.events()) as events:
        assert await anext(events) == (1, Accepted(head.session, 1, "replica-1"))
        assert await anext(events) == (6, Delta("Hello"))
        followed.tell(5, 6)
        assert await anext(events) == (7, Delta(" "))
        assert await followed.letters.get() == Watch("here", (Place(head.session, 1, "attempt", 6),))


async def test_who_reads_no_more_says_so(followed: Scene) -> None:
    async with aclosing((await followed.reader()).events()) as events:
        await anext(events)
        assert followed.here.followed == 1
    left = await followed.letters.get()
    while isinstance(left, Watch):
        left = await followed.letters.get()
    assert left == Leave("here", (Place(followed.head.session, 1, "attempt", 0),))
    assert followed.here.followed == 0


async def test_a_reader_who_comes_late_is_not_forgotten(followed: Scene) -> None:
    reader = await followed.reader()
    await eventually(lambda: followed.here.followed == 0)
    reading = asyncio.ensure_future(read(reader))
    await eventually(lambda: followed.here.followed == 1)
    followed.tell(0, len(TEXT), Cancelled())
    assert text(await reading) == TEXT


async def test_a_reader_who_comes_late_and_one_who_came_meanwhile_are_told_the_same(followed: Scene) -> None:
    late = await followed.reader()
    await eventually(lambda: followed.here.followed == 0)
    both = [asyncio.ensure_future(read(await followed.reader()))]
    both.append(asyncio.ensure_future(read(late)))
    await asyncio.sleep(0)
    followed.tell(0, len(TEXT), Cancelled())
    assert [text(await asyncio.wait_for(each, 5)) for each in both] == [TEXT, TEXT]


async def test_two_readers_share_what_is_told(followed: Scene) -> None:
    readers = [asyncio.ensure_future(read(await followed.reader())) for _ in range(2)]
    followed.tell(0, len(TEXT), Cancelled())
    assert [text(await reader) for reader in readers] == [TEXT, TEXT]
    await eventually(lambda: followed.here.followed == 0)


async def test_an_end_that_no_letter_told_is_found_in_the_store(followed: Scene) -> None:
    reading = asyncio.ensure_future(read(await followed.reader()))
    await followed.keep(len(TEXT), terminal=Cancelled())
    events = await asyncio.wait_for(reading, 5)
    assert text(events) == TEXT
    assert events[-1][1] == Cancelled()


async def test_an_end_that_is_only_on_record_is_found_there(followed: Scene) -> None:
    await followed.keep(3)
    reading = asyncio.ensure_future(read(await followed.reader()))
    turn = await followed.stage.play()
    followed.place.journals.flush()
    followed.lose_the_process()
    followed.lose_the_lease()
    events = await asyncio.wait_for(reading, 5)
    assert text(events) == TEXT
    assert events[-1][1] == Done(turn)


@pytest.mark.parametrize("kept", [0, 5])
async def test_a_lost_turn_is_told_so_only_once_its_lease_is_gone(followed: Scene, kept: int) -> None:
    await followed.keep(kept)
    reading = asyncio.ensure_future(read(await followed.reader()))
    followed.lose_the_process()
    _, pending = await asyncio.wait([reading], timeout=0.3)
    assert pending
    followed.lose_the_lease()
    events = await asyncio.wait_for(reading, 5)
    assert text(events) == TEXT[:kept]
    assert events[-1] == (terminal_place(kept), TURN_LOST)


@pytest.mark.parametrize("after", [4, 5, 6, 9])
async def test_a_reader_who_has_more_than_was_kept_is_told_of_the_loss_too(followed: Scene, after: int) -> None:
    """Also one who has a single character more, and so the place at which the end of what was kept would stand."""
    await followed.keep(3)
    reading = asyncio.ensure_future(read(await followed.reader(), after))
    followed.lose_the_process()
    followed.lose_the_lease()
    assert await asyncio.wait_for(reading, 5) == [(max(after + 1, terminal_place(3)), TURN_LOST)]


async def test_a_turn_whose_process_lives_is_not_lost_without_its_lease(
    followed: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_turns, "_PATIENT_ROUNDS", 10_000)
    reading = asyncio.ensure_future(read(await followed.reader()))
    followed.lose_the_lease()
    followed.place.journals.flush()
    _, pending = await asyncio.wait([reading], timeout=0.3)
    assert pending
    followed.tell(0, len(TEXT), Cancelled())
    assert text(await asyncio.wait_for(reading, 5)) == TEXT


async def test_nobody_waits_for_ever(followed: Scene) -> None:
    """Its process is connected, but holds no lease and says nothing."""
    reading = asyncio.ensure_future(read(await followed.reader()))
    followed.lose_the_lease()
    assert (await asyncio.wait_for(reading, 10))[-1][1] == TURN_LOST


async def test_while_the_record_cannot_be_read_nothing_is_said_to_be_lost(followed: Scene) -> None:
    reading = asyncio.ensure_future(read(await followed.reader()))
    followed.stage.records.away = True
    followed.lose_the_process()
    followed.lose_the_lease()
    events = await asyncio.wait_for(reading, 10)
    assert [type(event) for _, event in events] == [Accepted]


async def test_another_attempt_in_its_place_means_that_it_is_lost(followed: Scene) -> None:
    await followed.keep(5)
    reading = asyncio.ensure_future(read(await followed.reader()))
    followed.lose_the_process()
    await followed.keep(0, of=Head(followed.head.session, 1, "second", "elsewhere", "replica-2", "moved"))
    events = await asyncio.wait_for(reading, 5)
    assert (text(events), events[-1][1]) == (TEXT[:5], TURN_LOST)


async def test_another_reply_on_record_means_that_it_is_lost(followed: Scene) -> None:
    followed.stage.tutor.script = ("Quite another one.",)
    await followed.keep(5)
    reading = asyncio.ensure_future(read(await followed.reader()))
    await followed.stage.play()
    followed.place.journals.flush()
    followed.lose_the_process()
    followed.lose_the_lease()
    events = await asyncio.wait_for(reading, 5)
    assert (text(events), events[-1][1]) == (TEXT[:5], TURN_LOST)


async def test_without_redis_readers_are_let_go_and_new_ones_refused(followed: Scene) -> None:
    reading = asyncio.ensure_future(read(await followed.reader()))
    await eventually(lambda: followed.here.followed == 1)
    followed.place.journals.away = True
    with pytest.raises(JournalUnavailable):
        await followed.reader()
    events = await asyncio.wait_for(reading, 5)
    assert [type(event) for _, event in events] == [Accepted]


async def test_a_stopping_process_lets_its_readers_go(followed: Scene) -> None:
    reading = asyncio.ensure_future(read(await followed.reader()))
    await eventually(lambda: followed.here.followed == 1)
    followed.here.stop()
    assert [type(event) for _, event in await asyncio.wait_for(reading, 5)] == [Accepted]


async def test_a_fault_in_one_round_ends_no_following(followed: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = asyncio.ensure_future(read(await followed.reader()))
    await eventually(lambda: followed.here.followed == 1)
    rounds = 0

    async def broken(*_: object) -> bool:
        nonlocal rounds
        rounds += 1
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(followed.here._mail, "send", broken)
        await eventually(lambda: rounds > 2)
    await followed.keep(len(TEXT), terminal=Cancelled())
    assert text(await asyncio.wait_for(reading, 5)) == TEXT


async def test_a_turn_that_has_begun_just_now_is_waited_for() -> None:
    async with scene() as one:
        finding = asyncio.ensure_future(one.reader())
        _, pending = await asyncio.wait([finding], timeout=0.1)
        assert pending
        await one.keep(3)
        assert (await asyncio.wait_for(finding, 5)).number == 1
        assert await one.here.find(one.stage.trainee, one.head.session, 7) is None


async def test_who_has_read_a_turn_waits_for_a_store_that_was_emptied(followed: Scene) -> None:
    followed.place.journals.flush()
    followed.lose_the_lease()
    viewer, head = followed.stage.trainee, followed.head
    assert await followed.here.find(viewer, head.session, head.turn) is None
    found = asyncio.ensure_future(followed.here.find(viewer, head.session, head.turn, was_read=True))
    await asyncio.sleep(0)
    await followed.keep(5)
    reader = await found
    assert reader is not None
    async with aclosing(reader.events(3)) as events:
        assert await anext(events) == (6, Delta("llo"))
