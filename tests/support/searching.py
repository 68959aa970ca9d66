"""A search of knowledge that runs, on whatever shelf and with whatever models a test has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx

from gateway.wiring.background import background
from sessions.adapters.knowledge_index import Bm25Indexer
from sessions.adapters.model_http.embeddings import HttpEmbedder
from sessions.adapters.model_http.endpoint import ModelEndpoint
from sessions.adapters.model_http.rerank import HttpReranker
from sessions.adapters.vector_index import MatrixIndexer
from sessions.background_search import BackgroundSearch
from sessions.base_indexes import BaseIndexes
from sessions.domain.citation import Background
from sessions.domain.knowledge import Chunk, Document, KnowledgeBase
from sessions.knowledge_ports import Library, Shelf
from sessions.moderation_ports import Moderation
from sessions.vector_keeper import VectorKeeper
from tests.support.knowledge_world import MANY, document
from tests.support.moderated import moderation
from tests.support.search_models import SearchModels
from tests.support.session_fakes import FakeClock, WordCounter

NO_RULES = moderation()


@dataclass(frozen=True, slots=True)
class Searching:
    search: BackgroundSearch
    indexes: BaseIndexes
    keeper: VectorKeeper
    clock: FakeClock
    embeddings: ModelEndpoint
    rerank: ModelEndpoint

    async def find(
        self, base: KnowledgeBase, question: str, *, budget_tokens: int = 500, desk: Moderation = NO_RULES
    ) -> Background:
        rules = await desk.rules(base.tenant)
        return await self.search.find(base.tenant, base.id, question, budget_tokens=budget_tokens, rules=rules)

    async def find_surely(self, base: KnowledgeBase, question: str) -> Background:
        rules = await NO_RULES.rules(base.tenant)
        return await self.search.find_surely(base.tenant, base.id, question, budget_tokens=500, rules=rules)


@asynccontextmanager
async def searching(
    shelf: Shelf, library: Library, models: SearchModels | None = None, *, patience_s: float = 20, within_s: float = 5
) -> AsyncIterator[Searching]:
    """Without models by words alone; with them, both are asked."""
    clock = FakeClock()
    async with httpx.AsyncClient(trust_env=False) as client:
        embeddings, rerank = (
            ModelEndpoint(client=client, name=name, url=url, key="", ticks=clock.ticks)
            for name, url in (
                ("embeddings", models.embeddings_url if models else ""),
                ("rerank", models.rerank_url if models else ""),
            )
        )
        embedder = HttpEmbedder(endpoint=embeddings, model="embed", within_s=within_s)
        keeper = VectorKeeper(
            shelf=shelf, library=library, embedder=embedder, indexer=MatrixIndexer(), ticks=clock.ticks
        )
        indexes = BaseIndexes(
            shelf=shelf,
            indexer=Bm25Indexer(),
            patience_s=patience_s,
            room=1_000_000,
            used=keeper.want if models else lambda _: None,
        )
        search = BackgroundSearch(
            indexes=indexes,
            counters=[WordCounter()],
            embedder=embedder if models else None,
            least_likeness=0.3,
            reranker=HttpReranker(endpoint=rerank, model="judge", within_s=within_s) if models else None,
            least_relevance=0.2,
        )
        async with background(indexes.run(), keeper.run()):
            yield Searching(search, indexes, keeper, clock, embeddings, rerank)


async def shelve(
    library: Library, base: KnowledgeBase, *texts: str, name: str = "prices", minutes: int = 0
) -> Document:
    """One document whose chunks are these texts, in place of an earlier one of this name."""
    one = replace(document(name, of=base, text="\n".join(texts), minutes=minutes), chunk_count=len(texts))
    chunks = [Chunk(one.id, name, number, "", text, len(text.split())) for number, text in enumerate(texts, start=1)]
    await library.put_document(one, chunks, max_chunks=MANY)
    return one
