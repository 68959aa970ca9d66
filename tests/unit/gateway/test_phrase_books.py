"""Books of phrases: made once for all who wait, shared, kept while there is room, and never a cause of death."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count

import pytest

from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.release import moderate
from gateway.moderation_ports import ListDirection, LiveList
from gateway.phrase_books import PhraseBooks
from gateway.wiring.background import background
from sessions.errors import ModerationUnavailable
from tests.support.eventually import eventually
from tests.support.moderation_stores import INSTRUCTOR, Stores, kept_list, memory_stores, says
from tests.support.records_world import HERE
from tests.support.rule_source import RuledSource


@dataclass
class World:
    stores: Stores
    source: RuledSource
    books: PhraseBooks

    async def lists(self, *texts: str) -> list[LiveList]:
        """A list in force for each of the texts."""
        for text in texts:
            await self.stores.lists.add(kept_list(text, live=True), says(text))
        known = {kept_list(text).id for text in texts}
        return [each for each in (await self.stores.rules.of_tenant(HERE.tenant)).lists if each.list in known]


@asynccontextmanager
async def world(*, most_phrases: int = 10_000, wait_s: float = 5.0) -> AsyncIterator[World]:
    stores, ticks = memory_stores(), count()
    source = RuledSource(stores.rules)
    books = PhraseBooks(source=source, clock=lambda: float(next(ticks)), most_phrases=most_phrases, wait_s=wait_s)
    async with background(books.run()):
        yield World(stores, source, books)


def finds(book: PhraseBook, text: str) -> bool:
    return bool(moderate(text, book).findings)


async def test_no_lists_have_one_book_for_all_and_nothing_is_asked() -> None:
    async with world() as here:
        here.source.away = True
        book = await here.books.of(HERE.tenant, [])
        assert not finds(book, "anything at all")
        assert await here.books.of(HERE.tenant, []) is book


async def test_a_book_holds_what_its_lists_say_and_is_made_once() -> None:
    async with world() as here:
        both = await here.lists("first", "second")
        book = await here.books.of(HERE.tenant, both)
        assert finds(book, "the first")
        assert finds(book, "the second")
        assert await here.books.of(HERE.tenant, both) is book
        assert here.books.counters() == {
            "moderation_books_made": 1,
            "moderation_books_failed": 0,
            "moderation_book_seconds": 1,
        }


async def test_all_who_ask_while_it_is_made_wait_for_the_same() -> None:
    async with world() as here:
        (found,) = await here.lists("first")
        here.source.readable.clear()
        asking = [asyncio.create_task(here.books.of(HERE.tenant, [found])) for _ in range(20)]
        await eventually(lambda: len(here.source.read) == 1)
        asking[0].cancel()
        here.source.readable.set()
        cancelled, *books = await asyncio.gather(*asking, return_exceptions=True)
        assert isinstance(cancelled, asyncio.CancelledError)
        assert isinstance(books[0], PhraseBook)
        assert set(map(id, books)) == {id(books[0])}
        assert here.source.read == [found]


async def test_equal_versions_share_a_book_whatever_they_are_for() -> None:
    async with world() as here:
        (found,) = await here.lists("first")
        as_input = LiveList(found.list, found.version, None, ListDirection.INPUT)
        assert await here.books.of(HERE.tenant, [found]) is await here.books.of(HERE.tenant, [as_input])


async def test_another_version_has_another_book_and_the_old_one_stays_as_it_was() -> None:
    async with world() as here:
        (found,) = await here.lists("first")
        old = await here.books.of(HERE.tenant, [found])
        await here.stores.lists.add_version(HERE.tenant, found.list, says("second"), INSTRUCTOR)
        new = await here.books.of(HERE.tenant, [LiveList(found.list, 2, None, ListDirection.BOTH)])
        assert (finds(old, "first"), finds(old, "second")) == (True, False)
        assert (finds(new, "first"), finds(new, "second")) == (False, True)


async def test_what_cannot_be_read_is_told_and_asked_for_again() -> None:
    async with world() as here:
        lists = await here.lists("first")
        here.source.away = True
        for _ in range(2):
            with pytest.raises(ModerationUnavailable):
                await here.books.of(HERE.tenant, lists)
        here.source.away = False
        assert finds(await here.books.of(HERE.tenant, lists), "first")
        assert here.books.counters()["moderation_books_failed"] == 2


async def test_a_list_that_cannot_be_read_at_all_stops_nobody_else() -> None:
    async with world() as here:
        good, bad = await here.lists("good", "bad")
        await here.books.of(HERE.tenant, [good])
        with pytest.raises(ModerationUnavailable):
            await here.books.of(HERE.tenant, [LiveList(bad.list, 77, None, ListDirection.BOTH)])
        assert finds(await here.books.of(HERE.tenant, [bad]), "bad")


async def test_a_database_that_hangs_is_not_waited_for_without_end() -> None:
    async with world(wait_s=0.05) as here:
        lists = await here.lists("first")
        here.source.readable.clear()
        with pytest.raises(ModerationUnavailable):
            await here.books.of(HERE.tenant, lists)


async def test_the_books_in_memory_are_bounded_and_the_last_used_stay() -> None:
    async with world(most_phrases=254) as here:  # one less than five small ones
        lists = await here.lists(*(f"text {n}" for n in range(12)))
        for each in lists:
            await here.books.of(HERE.tenant, [each])
            await here.books.of(HERE.tenant, [lists[0]])
            assert here.books.gauges()["moderation_phrases_ready"] <= 254
        assert here.books.gauges()["moderation_books"] == 4
        assert here.source.read.count(lists[0]) == 1


async def test_one_that_is_larger_than_the_room_is_kept_alone() -> None:
    async with world(most_phrases=100) as here:
        one, other = await here.lists("one", "other")
        book = await here.books.of(HERE.tenant, [one])
        assert await here.books.of(HERE.tenant, [one]) is book
        await here.books.of(HERE.tenant, [other])
        assert here.books.gauges()["moderation_books"] == 1


async def test_what_is_wanted_is_there_when_it_is_asked_for() -> None:
    async with world() as here:
        lists = await here.lists("first")
        here.books.want(HERE.tenant, lists)
        here.books.want(HERE.tenant, [])
        await eventually(lambda: here.books.gauges()["moderation_books"] == 1)
        here.source.away = True
        assert finds(await here.books.of(HERE.tenant, lists), "first")
        here.books.want(HERE.tenant, lists)
        assert len(here.source.read) == 1


async def test_what_nobody_wants_any_more_holds_up_nobody_behind_it() -> None:
    async with world() as here:
        first, wanted, waited, last = await here.lists("first", "wanted", "waited", "last")
        here.source.readable.clear()
        here.books.want(HERE.tenant, [first])
        await eventually(lambda: here.source.read == [first])
        here.books.want(HERE.tenant, [wanted])
        asking = [asyncio.create_task(here.books.of(HERE.tenant, [one])) for one in (waited, last)]
        await asyncio.sleep(0)
        here.books.want_anew()
        here.source.readable.set()
        await asyncio.gather(*asking)
        assert here.source.read == [first, waited, last]
        await here.books.of(HERE.tenant, [wanted])
        assert here.source.read == [first, waited, last, wanted]


async def test_what_is_wanted_again_keeps_its_place() -> None:
    async with world() as here:
        first, wanted, last = await here.lists("first", "wanted", "last")
        here.source.readable.clear()
        here.books.want(HERE.tenant, [first])
        await eventually(lambda: here.source.read == [first])
        here.books.want(HERE.tenant, [wanted])
        here.books.want(HERE.tenant, [last])
        here.books.want_anew()
        here.books.want(HERE.tenant, [wanted])
        here.source.readable.set()
        await eventually(lambda: here.books.gauges()["moderation_books"] == 2)
        assert here.source.read == [first, wanted]


async def test_who_gave_up_finds_it_later() -> None:
    async with world(wait_s=0.05) as here:
        first, wanted = await here.lists("first", "wanted")
        here.source.readable.clear()
        here.books.want(HERE.tenant, [first])
        with pytest.raises(ModerationUnavailable):
            await here.books.of(HERE.tenant, [wanted])
        here.source.readable.set()
        await eventually(lambda: here.books.gauges()["moderation_books"] == 2)


@pytest.mark.parametrize("is_on", [True, False])
async def test_the_process_goes_on_afterwards_as_before(is_on: bool) -> None:
    async with world() as here:
        lists, usual_s = await here.lists("first"), sys.getswitchinterval()
        if not is_on:
            gc.disable()
        try:
            await here.books.of(HERE.tenant, lists)
            assert gc.isenabled() is is_on
            assert sys.getswitchinterval() == pytest.approx(usual_s)
        finally:
            gc.enable()


async def test_a_long_book_is_left_alone_by_the_collector_and_a_short_one_is_not() -> None:
    async with world() as here:
        short, long = await here.lists("short", "long")
        many = says(*(f"phrase {number}" for number in range(5_000)))
        await here.stores.lists.add_version(HERE.tenant, long.list, many, INSTRUCTOR)
        before = gc.get_freeze_count()
        await here.books.of(HERE.tenant, [short])
        assert gc.get_freeze_count() <= before
        await here.books.of(HERE.tenant, [LiveList(long.list, 2, None, ListDirection.BOTH)])
        assert gc.get_freeze_count() > before + 5_000
