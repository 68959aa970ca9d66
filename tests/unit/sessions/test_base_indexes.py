"""Indexes are as new as their base, built one at a time, waited for with bounded patience, and few enough to fit."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs
from typing_extensions import override

from gateway.wiring.background import background
from sessions.adapters.knowledge_index import Bm25Indexer
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.base_indexes import BaseIndexes, IndexedBase
from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Contents, KnowledgeBase
from sessions.domain.viewer import TenantId
from sessions.errors import IndexFaulty, RecordsUnavailable
from sessions.search_ports import ChunkIndex
from tests.support.eventually import eventually
from tests.support.knowledge_world import knowledge_base
from tests.support.searching import shelve

BASE = knowledge_base()


class HeldIndexer(Bm25Indexer):
    """Makes an index when it is let to."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.breaks_at: str | None = None
        """A text that brings it to a fault, which repeats it."""
        self.begun = 0
        self.running = 0
        self.most_running = 0

    @override
    async def index(self, chunks: Sequence[Chunk]) -> ChunkIndex:
        self.begun += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await self.gate.wait()
        self.running -= 1
        for chunk in chunks:
            if chunk.text == self.breaks_at:
                raise ValueError(chunk.text)
        return await super().index(chunks)


class FragileShelf(MemoryKnowledge):
    """Away when a test says so, wholly or for the text alone."""

    def __init__(self) -> None:
        super().__init__()
        self.is_away = False
        self.text_is_away = False
        self.is_broken = False

    @override
    async def version(self, tenant: TenantId, base: KnowledgeBaseId) -> int | None:
        if self.is_away:
            raise RecordsUnavailable
        return await super().version(tenant, base)

    @override
    async def chunks(self, tenant: TenantId, base: KnowledgeBaseId) -> Contents | None:
        if self.is_away or self.text_is_away:
            raise RecordsUnavailable
        if self.is_broken:
            raise KeyError(base)
        return await super().chunks(tenant, base)


class House:
    def __init__(self, *, patience_s: float = 20, room: int = 1_000_000) -> None:
        self.shelf = FragileShelf()
        self.indexer = HeldIndexer()
        self.used: list[int] = []
        self.indexes = BaseIndexes(
            shelf=self.shelf,
            indexer=self.indexer,
            patience_s=patience_s,
            room=room,
            used=lambda base: self.used.append(base.version),
        )

    async def current(self, base: KnowledgeBase = BASE) -> IndexedBase | None:
        return await self.indexes.current(base.tenant, base.id)


@asynccontextmanager
async def house(*, patience_s: float = 20, room: int = 1_000_000) -> AsyncIterator[House]:
    made = House(patience_s=patience_s, room=room)
    await made.shelf.add_base(BASE)
    async with background(made.indexes.run()):
        yield made


async def test_a_base_is_read_and_indexed_once_for_all_who_ask_at_once() -> None:
    async with house() as it:
        await shelve(it.shelf, BASE, "a pump")
        found = await asyncio.gather(*(it.current() for _ in range(5)))
        assert found[0] is not None
        assert found[0].version == 2
        assert all(each is found[0] for each in found)
        assert (it.indexer.begun, it.indexes.built, it.used) == (1, 1, [2] * 5)


async def test_indexes_are_built_one_at_a_time() -> None:
    async with house() as it:
        others = [knowledge_base(f"other {number}") for number in range(3)]
        for other in others:
            await it.shelf.add_base(other)
        assert all(await asyncio.gather(*(it.current(base) for base in others)))
        assert (it.indexer.begun, it.indexer.most_running) == (3, 1)


async def test_a_build_that_began_before_a_change_is_followed_by_another() -> None:
    async with house() as it:
        await shelve(it.shelf, BASE, "a pump")
        it.indexer.gate.clear()
        async with asyncio.TaskGroup() as group:
            before = group.create_task(it.current())
            await eventually(lambda: it.indexer.begun == 1)
            await shelve(it.shelf, BASE, "a valve", minutes=1)
            after = group.create_task(it.current())
            await asyncio.sleep(0)
            it.indexer.gate.set()
        assert (first := before.result()) is not None
        assert (second := after.result()) is not None
        assert (first.version, second.version) == (2, 3)
        assert [chunk.text for chunk in second.chunks] == ["a valve"]


async def test_a_build_that_takes_too_long_is_not_waited_for_but_comes() -> None:
    async with house(patience_s=0.02) as it:
        it.indexer.gate.clear()
        assert await it.current() is None
        assert it.indexes.late == 1
        it.indexer.gate.set()
        await eventually(lambda: it.indexes.built == 1)
        assert await it.current() is not None


async def test_who_no_longer_waits_does_not_end_the_others_wait() -> None:
    async with house() as it:
        it.indexer.gate.clear()
        async with asyncio.TaskGroup() as group:
            one, other = group.create_task(it.current()), group.create_task(it.current())
            await eventually(lambda: it.indexer.begun == 1)
            one.cancel()
            it.indexer.gate.set()
        assert one.cancelled()
        assert other.result() is not None


async def test_what_cannot_be_read_is_nothing_and_counted() -> None:
    async with house() as it:
        it.shelf.is_away = True
        assert await it.current() is None
        it.shelf.is_away, it.shelf.text_is_away = False, True
        assert await it.current() is None
        assert it.indexes.failures == 2
        it.shelf.text_is_away = False
        assert await it.current() is not None


async def test_a_base_that_goes_while_it_is_asked_for_is_nothing() -> None:
    async with house() as it:
        await it.current()
        assert it.indexes.size == 0
        await shelve(it.shelf, BASE, "a pump")
        assert await it.current() is not None
        await it.shelf.remove_base(BASE.tenant, BASE.id)
        assert await it.current() is None
        assert it.indexes.size == 0


async def test_a_base_that_is_gone_when_its_turn_comes_is_nothing() -> None:
    async with house() as it:
        it.indexer.gate.clear()
        other = await it.shelf.add_base(knowledge_base("other"))
        async with asyncio.TaskGroup() as group:
            group.create_task(it.current(other))
            await eventually(lambda: it.indexer.begun == 1)
            waiting = group.create_task(it.current())
            await asyncio.sleep(0)
            await it.shelf.remove_base(BASE.tenant, BASE.id)
            it.indexer.gate.set()
        assert waiting.result() is None


@pytest.mark.parametrize(("room", "kept"), [(1_000_000, 3), (250, 2), (1, 1)])
async def test_those_asked_for_longest_ago_make_room(room: int, kept: int) -> None:
    async with house(room=room) as it:
        bases = [BASE, *(knowledge_base(f"other {number}") for number in range(2))]
        for base in bases:
            await it.shelf.add_base(base)
            await shelve(it.shelf, base, "pump " * 20)
            assert await it.current(base) is not None
        assert it.indexes.size == kept * 100
        assert await it.current(bases[-1]) is not None
        assert it.indexes.built == 3


class TestFault:
    """Something that nobody has foreseen, at one base."""

    async def test_it_ends_neither_the_indexing_of_others_nor_of_a_later_version(self) -> None:
        other = knowledge_base("other")
        async with house() as it, asyncio.timeout(10):
            await shelve(it.shelf, BASE, "a secret pump")
            await it.shelf.add_base(other)
            it.indexer.breaks_at = "a secret pump"
            assert await asyncio.gather(*(it.current() for _ in range(3))) == [None] * 3
            assert (it.indexes.faults, it.indexes.built, it.indexes.failures, it.used) == (1, 0, 0, [])
            assert await it.current(other) is not None
            await shelve(it.shelf, BASE, "a valve", minutes=1)
            assert await it.current() is not None

    async def test_the_log_says_what_and_where_but_not_the_words(self) -> None:
        with capture_logs() as logged:
            async with house() as it, asyncio.timeout(10):
                await shelve(it.shelf, BASE, "a secret pump")
                it.indexer.breaks_at = "a secret pump"
                await it.current()
        [line] = logged
        assert (line["log_level"], line["reason"], line["base"]) == ("error", "ValueError", str(BASE.id))
        assert "in index" in line["traceback"]
        assert "secret" not in str(line)

    async def test_work_that_nobody_waits_for_is_told(self) -> None:
        async with house() as it, asyncio.timeout(10):
            await shelve(it.shelf, BASE, "a pump")
            it.indexer.breaks_at = "a pump"
            with pytest.raises(IndexFaulty):
                await it.indexes.awaited(BASE.tenant, BASE.id)

    async def test_a_shelf_that_breaks_is_one_too(self) -> None:
        async with house() as it, asyncio.timeout(10):
            it.shelf.is_broken = True
            assert await it.current() is None
            it.shelf.is_broken = False
            assert await it.current() is not None
            assert it.indexes.faults == 1


class TestPreparing:
    """For work that nobody waits for."""

    async def test_it_waits_longer_than_a_question_would(self) -> None:
        async with house(patience_s=0.001) as it:
            it.indexer.gate.clear()
            async with asyncio.TaskGroup() as group:
                awaited = group.create_task(it.indexes.awaited(BASE.tenant, BASE.id))
                await eventually(lambda: it.indexer.begun == 1)
                assert await it.current() is None
                it.indexer.gate.set()
            assert await it.current() is awaited.result() is not None
            assert await it.indexes.awaited(BASE.tenant, BASE.id) is awaited.result()
            assert it.indexes.built == 1

    async def test_what_cannot_be_read_is_not_prepared(self) -> None:
        async with house() as it:
            it.shelf.is_away = True
            with pytest.raises(RecordsUnavailable):
                await it.indexes.awaited(BASE.tenant, BASE.id)
            it.shelf.is_away, it.shelf.text_is_away = False, True
            with pytest.raises(RecordsUnavailable):
                await it.indexes.awaited(BASE.tenant, BASE.id)


async def test_work_that_nobody_waits_for_waits_for_its_index() -> None:
    async with house(patience_s=0.01) as it, asyncio.timeout(10):
        await shelve(it.shelf, BASE, "a pump")
        it.indexer.gate.clear()
        assert await it.current() is None
        waiting = asyncio.create_task(it.indexes.awaited(BASE.tenant, BASE.id))
        await eventually(lambda: it.indexer.running == 1)
        assert not waiting.done()
        it.indexer.gate.set()
        assert await waiting is not None
        assert await it.current() is not None


async def test_of_a_base_that_is_gone_it_gets_none() -> None:
    async with house() as it, asyncio.timeout(10):
        await it.shelf.remove_base(BASE.tenant, BASE.id)
        assert await it.indexes.awaited(BASE.tenant, BASE.id) is None


async def test_of_a_base_that_goes_while_it_is_indexed_it_gets_none() -> None:
    async with house() as it, asyncio.timeout(10):
        it.indexer.gate.clear()
        other = await it.shelf.add_base(knowledge_base("other"))
        async with asyncio.TaskGroup() as group:
            group.create_task(it.current(other))
            await eventually(lambda: it.indexer.begun == 1)
            waiting = group.create_task(it.indexes.awaited(BASE.tenant, BASE.id))
            await asyncio.sleep(0)
            await it.shelf.remove_base(BASE.tenant, BASE.id)
            it.indexer.gate.set()
        assert waiting.result() is None
