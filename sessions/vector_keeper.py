"""Gives indexed bases their vectors: read from the shelf where they are kept, otherwise made once and kept there.

Nobody waits for it. A base without vectors is searched by words alone, and is tried again while it is asked for. A
fault at one base is logged and counted, and ends no other's.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sessions.base_indexes import IndexedBase
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk
from sessions.domain.ranking import Place
from sessions.domain.viewer import TenantId
from sessions.errors import RecordsUnavailable
from sessions.fault_log import log_fault
from sessions.knowledge_ports import Library, Shelf
from sessions.search_ports import Embedder, VectorIndexer

_AT_ONCE = 32
_TRIED_AGAIN_S = 30.0

_Key = tuple[TenantId, KnowledgeBaseId]
_Version = tuple[TenantId, KnowledgeBaseId, int]


class VectorKeeper:
    def __init__(
        self,
        *,
        shelf: Shelf,
        library: Library,
        embedder: Embedder,
        indexer: VectorIndexer,
        ticks: Callable[[], float],
    ) -> None:
        self._shelf = shelf
        self._library = library
        self._embedder = embedder
        self._indexer = indexer
        self._ticks = ticks
        self._wanted: asyncio.Queue[_Key] = asyncio.Queue()
        self._waiting: dict[_Key, IndexedBase] = {}
        self._tried: dict[_Version, float] = {}
        self.made = 0
        self.put_off = 0
        self.faults = 0

    def want(self, base: IndexedBase) -> None:
        """Returns at once. Of a base that changes faster than the model reads, only its newest version waits."""
        now = self._ticks()
        self._tried = {known: at for known, at in self._tried.items() if now - at < _TRIED_AGAIN_S}
        this = (base.tenant, base.base, base.version)
        if base.vectors is None and this not in self._tried:
            self._tried[this] = now
            key = (base.tenant, base.base)
            if key not in self._waiting:
                self._wanted.put_nowait(key)
            self._waiting[key] = base

    async def run(self) -> None:
        while True:
            base = self._waiting.pop(await self._wanted.get())
            if base.vectors is not None:  # made while it waited again
                continue
            try:
                await self._complete(base)
            except RecordsUnavailable:
                self.put_off += 1
            except Exception as error:  # noqa: BLE001  one base's fault must not leave all others without vectors
                self.faults += 1
                log_fault("a base's vectors could not be made", error, tenant=str(base.tenant), base=str(base.base))

    async def _complete(self, base: IndexedBase) -> None:
        known = dict(await self._shelf.vectors(base.tenant, base.base, self._embedder.model))
        for document, chunks in _missing(base.chunks, known):
            made = await self._made(chunks)
            if made is None:
                self.put_off += 1
                return
            # At once, so that what was made stays made however long the rest takes.
            await self._library.set_vectors(base.tenant, document, self._embedder.model, made)
            self.made += len(made)
            known |= {(document, number): vector for number, vector in made.items()}
        places = {
            Place(at): known[chunk.document, chunk.number]
            for at, chunk in enumerate(base.chunks)
            if (chunk.document, chunk.number) in known
        }
        base.vectors = await self._indexer.index(places)

    async def _made(self, chunks: Sequence[Chunk]) -> dict[int, bytes] | None:
        vectors = await self._embedder.passages([f"{chunk.heading}\n{chunk.text}".strip() for chunk in chunks])
        return None if vectors is None else {chunk.number: each for chunk, each in zip(chunks, vectors, strict=True)}


def _missing(
    chunks: Iterable[Chunk], known: Mapping[tuple[DocumentId, int], bytes]
) -> Iterator[tuple[DocumentId, list[Chunk]]]:
    """By document, and no more of one than are asked for at once."""
    missing = defaultdict[DocumentId, list[Chunk]](list)
    for chunk in chunks:
        if (chunk.document, chunk.number) not in known:
            missing[chunk.document].append(chunk)
    for document, every in missing.items():
        for start in range(0, len(every), _AT_ONCE):
            yield document, every[start : start + _AT_ONCE]
