"""The search of knowledge: indexes of this process, and the models that help it where they are configured."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.settings import Settings
from gateway.wiring.background import background
from gateway.wiring.clock import SystemClock
from gateway.wiring.models import Counters
from sessions.adapters.knowledge_index import Bm25Indexer
from sessions.adapters.model_http.embeddings import HttpEmbedder, Prefixes
from sessions.adapters.model_http.endpoint import ModelEndpoint
from sessions.adapters.model_http.rerank import HttpReranker
from sessions.adapters.postgres.knowledge_library import PostgresLibrary
from sessions.adapters.postgres.knowledge_shelf import PostgresShelf
from sessions.adapters.vector_index import MatrixIndexer
from sessions.background_search import BackgroundSearch
from sessions.base_indexes import BaseIndexes, nobody
from sessions.search_settings import EmbeddingSettings, RerankSettings, SearchModelSettings
from sessions.vector_keeper import VectorKeeper

_Endpoint = Callable[[str, SearchModelSettings], ModelEndpoint]


@dataclass(frozen=True, slots=True)
class KnowledgeFinding:
    """The search, and what it counts."""

    search: BackgroundSearch
    indexes: BaseIndexes
    endpoints: Mapping[str, ModelEndpoint]
    keeper: VectorKeeper | None
    """None: no embedding model is configured."""

    def gauges(self) -> Mapping[str, float]:
        return {"knowledge_index_characters": self.indexes.size}

    def counters(self) -> Mapping[str, float]:
        return {
            "knowledge_searches": self.search.asked,
            "knowledge_searches_answered": self.search.found,
            "knowledge_indexes_built": self.indexes.built,
            "knowledge_indexes_late": self.indexes.late,
            "knowledge_shelf_failures": self.indexes.failures,
            "knowledge_faults": self.indexes.faults + (0 if self.keeper is None else self.keeper.faults),
            **{f"knowledge_{name}_failures": endpoint.failures for name, endpoint in self.endpoints.items()},
            **self._of_vectors(),
        }

    def _of_vectors(self) -> Mapping[str, float]:
        if self.keeper is None:
            return {}
        return {
            "knowledge_vectors_made": self.keeper.made,
            "knowledge_vectors_put_off": self.keeper.put_off,
        }


@asynccontextmanager
async def knowledge_finding(
    settings: Settings, engine: AsyncEngine, counters: Counters
) -> AsyncIterator[KnowledgeFinding]:
    """While it is entered, indexes are built and vectors are made beside the rest."""
    wanted, made = settings.knowledge, dict[str, ModelEndpoint]()
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(trust_env=False))

        def endpoint(name: str, model: SearchModelSettings) -> ModelEndpoint:
            key = "" if model.key is None else model.key.get_secret_value()
            made[name] = ModelEndpoint(client=client, name=name, url=str(model.url), key=key, ticks=SystemClock().ticks)
            return made[name]

        embedder = None if wanted.embeddings is None else _embedder(wanted.embeddings, endpoint)
        keeper = None if embedder is None else _keeper(engine, embedder)
        indexes = BaseIndexes(
            shelf=PostgresShelf(engine=engine),
            indexer=Bm25Indexer(),
            patience_s=wanted.index_patience_s,
            room=wanted.index_characters,
            used=nobody if keeper is None else keeper.want,
        )
        search = BackgroundSearch(
            indexes=indexes,
            counters=tuple(counters.values()),
            embedder=embedder,
            least_likeness=0.0 if wanted.embeddings is None else wanted.embeddings.least_likeness,
            reranker=None if wanted.rerank is None else _reranker(wanted.rerank, endpoint),
            least_relevance=0.0 if wanted.rerank is None else wanted.rerank.least_relevance,
        )
        work = [indexes.run()] if keeper is None else [indexes.run(), keeper.run()]
        await stack.enter_async_context(background(*work))
        yield KnowledgeFinding(search, indexes, made, keeper)


def _embedder(wanted: EmbeddingSettings, endpoint: _Endpoint) -> HttpEmbedder:
    return HttpEmbedder(
        endpoint=endpoint("embedding", wanted),
        model=wanted.model,
        within_s=wanted.timeout_s,
        prefixes=Prefixes(wanted.question_prefix, wanted.passage_prefix),
    )


def _reranker(wanted: RerankSettings, endpoint: _Endpoint) -> HttpReranker:
    return HttpReranker(endpoint=endpoint("rerank", wanted), model=wanted.model, within_s=wanted.timeout_s)


def _keeper(engine: AsyncEngine, embedder: HttpEmbedder) -> VectorKeeper:
    return VectorKeeper(
        shelf=PostgresShelf(engine=engine),
        library=PostgresLibrary(engine=engine),
        embedder=embedder,
        indexer=MatrixIndexer(),
        ticks=SystemClock().ticks,
    )
