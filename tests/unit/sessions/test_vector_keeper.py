"""Vectors are made once, kept with their chunks, and tried again later when the model is away."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from structlog.testing import capture_logs
from typing_extensions import override

from gateway.wiring.background import background
from sessions.adapters.knowledge_index import Bm25Indexer
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.adapters.vector_index import MatrixIndexer
from sessions.base_indexes import IndexedBase
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.viewer import TenantId
from sessions.errors import RecordsUnavailable
from sessions.search_ports import Embedder
from sessions.vector_keeper import VectorKeeper
from tests.support.eventually import eventually
from tests.support.knowledge_world import knowledge_base
from tests.support.searching import shelve
from tests.support.session_fakes import FakeClock

BASE = knowledge_base()
WORDS = "a secret"


class CountingEmbedder(Embedder):
    """A vector holds the length of its text."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.is_away = False
        self.away_after = 1_000
        """So many batches."""
        self.gate = asyncio.Event()
        self.gate.set()

    @property
    @override
    def model(self) -> str:
        return "embed"

    @override
    async def question(self, text: str) -> bytes | None:
        return None

    @override
    async def passages(self, texts: Sequence[str]) -> Sequence[bytes] | None:
        self.batches.append(len(texts))
        await self.gate.wait()
        return (
            None
            if self.is_away or len(self.batches) > self.away_after
            else [len(text).to_bytes(4, "little") for text in texts]
        )


class FragileShelf(MemoryKnowledge):
    def __init__(self) -> None:
        super().__init__()
        self.is_away = False
        self.is_broken = False

    @override
    async def vectors(
        self, tenant: TenantId, base: KnowledgeBaseId, model: str
    ) -> Mapping[tuple[DocumentId, int], bytes]:
        if self.is_away:
            raise RecordsUnavailable
        if self.is_broken:
            raise ValueError(WORDS)
        return await super().vectors(tenant, base, model)


class House:
    def __init__(self) -> None:
        self.shelf = FragileShelf()
        self.embedder = CountingEmbedder()
        self.clock = FakeClock()
        self.keeper = VectorKeeper(
            shelf=self.shelf,
            library=self.shelf,
            embedder=self.embedder,
            indexer=MatrixIndexer(),
            ticks=self.clock.ticks,
        )

    async def indexed(self) -> IndexedBase:
        contents = await self.shelf.chunks(BASE.tenant, BASE.id)
        assert contents is not None
        words = await Bm25Indexer().index(contents.chunks)
        return IndexedBase(BASE.tenant, BASE.id, contents.version, contents.chunks, words)

    async def completed(self) -> IndexedBase:
        base = await self.indexed()
        self.keeper.want(base)
        await eventually(lambda: base.vectors is not None)
        return base


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    made = House()
    await made.shelf.add_base(BASE)
    async with background(made.keeper.run()):
        yield made


async def test_every_chunk_gets_a_vector_in_batches() -> None:
    async with house() as it:
        await shelve(it.shelf, BASE, *("pump " * number for number in range(1, 41)))
        base = await it.completed()
        assert base.vectors is not None
        assert base.vectors.size_bytes == 40 * 4
        assert (it.embedder.batches, it.keeper.made) == ([32, 8], 40)
        assert len(await it.shelf.vectors(BASE.tenant, BASE.id, "embed")) == 40


async def test_only_what_is_new_is_made() -> None:
    async with house() as it:
        await shelve(it.shelf, BASE, "a pump", "a valve")
        await it.completed()
        await shelve(it.shelf, BASE, "a hose", name="hoses")
        base = await it.completed()
        assert base.vectors is not None
        assert base.vectors.size_bytes == 3 * 4
        assert it.embedder.batches == [2, 1]


async def test_a_base_without_text_has_no_vectors_and_asks_nobody() -> None:
    async with house() as it:
        await it.completed()
        assert it.embedder.batches == []


async def test_a_model_that_is_away_is_tried_again_after_a_while() -> None:
    async with house() as it:
        await shelve(it.shelf, BASE, "a pump")
        it.embedder.is_away = True
        base = await it.indexed()
        for _ in range(3):
            it.keeper.want(base)
        await eventually(lambda: it.keeper.put_off == 1)
        it.embedder.is_away = False
        it.keeper.want(base)
        it.clock.advance(30)
        assert (base.vectors, it.embedder.batches) == (None, [1])
        it.keeper.want(base)
        await eventually(lambda: base.vectors is not None)


async def test_what_has_its_vectors_wants_nothing() -> None:
    async with house() as it:
        base = await it.completed()
        it.clock.advance(60)
        it.shelf.is_away = True
        it.keeper.want(base)
        other = await it.indexed()
        it.keeper.want(other)
        await eventually(lambda: it.keeper.put_off == 1)


async def test_a_shelf_that_is_away_ends_nothing() -> None:
    async with house() as it:
        it.shelf.is_away = True
        base = await it.indexed()
        it.keeper.want(base)
        await eventually(lambda: it.keeper.put_off == 1)
        it.shelf.is_away = False
        it.clock.advance(60)
        it.keeper.want(base)
        await eventually(lambda: base.vectors is not None)


async def test_a_fault_at_one_base_ends_nothing_and_is_logged_without_words() -> None:
    with capture_logs() as logged:
        async with house() as it:
            it.shelf.is_broken = True
            base = await it.indexed()
            it.keeper.want(base)
            await eventually(lambda: it.keeper.faults == 1)
            it.shelf.is_broken = False
            it.clock.advance(60)
            it.keeper.want(base)
            await eventually(lambda: base.vectors is not None)
    [line] = logged
    assert (line["log_level"], line["reason"], line["base"]) == ("error", "ValueError", str(BASE.id))
    assert ("in vectors" in line["traceback"], WORDS in str(line)) == (True, False)


async def test_what_was_made_before_the_model_went_away_is_kept() -> None:
    async with house() as it:
        await shelve(it.shelf, BASE, *("pump " * number for number in range(1, 41)))
        it.embedder.away_after = 1
        it.keeper.want(await it.indexed())
        await eventually(lambda: it.keeper.put_off == 1)
        assert len(await it.shelf.vectors(BASE.tenant, BASE.id, "embed")) == 32
        it.embedder.away_after = 1_000
        it.clock.advance(60)
        await it.completed()
        assert it.embedder.batches == [32, 8, 8]


async def test_of_a_base_that_changes_faster_than_the_model_reads_the_newest_version_alone_waits() -> None:
    async with house() as it:
        it.embedder.gate.clear()
        await shelve(it.shelf, BASE, "a pump")
        newest = await it.indexed()
        it.keeper.want(newest)
        await eventually(lambda: it.embedder.batches == [1])
        for number in range(5):
            await shelve(it.shelf, BASE, "a pump", f"a hose of {number} m")
            newest = await it.indexed()
            it.keeper.want(newest)
        it.clock.advance(60)
        it.keeper.want(newest)  # asked for again while it waits
        it.embedder.gate.set()
        await eventually(lambda: newest.vectors is not None)
        assert it.embedder.batches == [1, 2]
