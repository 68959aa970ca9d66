"""The indexes of knowledge bases that this process has in memory, each as new as the base.

The base's version is read at every question, so whatever changes is seen by the next one in every process. What is
missing is built one at a time, beside the loop; a question waits for it with bounded patience, and goes without
background rather than with a text that was removed. A fault in one build is logged and counted, and ends no other.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.knowledge import Chunk
from sessions.domain.viewer import TenantId
from sessions.errors import IndexFaulty, RecordsUnavailable
from sessions.fault_log import log_fault
from sessions.knowledge_ports import Shelf
from sessions.search_ports import ChunkIndex, Indexer, VectorIndex


@dataclass(slots=True)
class IndexedBase:
    """One version of a base. Vectors come later, or never."""

    tenant: TenantId
    base: KnowledgeBaseId
    version: int
    chunks: tuple[Chunk, ...]
    words: ChunkIndex
    vectors: VectorIndex | None = None

    @property
    def size(self) -> int:
        """In characters; a vector's bytes count like them."""
        return sum(len(chunk.text) for chunk in self.chunks) + (self.vectors.size_bytes if self.vectors else 0)


_Key = tuple[TenantId, KnowledgeBaseId]


class _Build(Enum):
    """How one went."""

    DONE = auto()
    GONE = auto()
    """There is no such base any more."""
    UNREADABLE = auto()
    FAULTY = auto()


def nobody(_: IndexedBase) -> None:
    """Hears of the bases that are used, and does nothing."""


class BaseIndexes:
    """`run` builds what is asked for; `used` is told of every base that a question is put to."""

    def __init__(
        self,
        *,
        shelf: Shelf,
        indexer: Indexer,
        patience_s: float,
        room: int,
        used: Callable[[IndexedBase], None] = nobody,
    ) -> None:
        self._shelf = shelf
        self._indexer = indexer
        self._patience_s = patience_s
        self._room = room
        self._used = used
        self._kept: OrderedDict[_Key, IndexedBase] = OrderedDict()
        self._coming: dict[_Key, asyncio.Future[_Build]] = {}
        self._wanted: asyncio.Queue[_Key] = asyncio.Queue()
        self.built = 0
        self.late = 0
        self.failures = 0
        self.faults = 0

    @property
    def size(self) -> int:
        return sum(kept.size for kept in self._kept.values())

    async def current(self, tenant: TenantId, base: KnowledgeBaseId) -> IndexedBase | None:
        """None when there is no such base, when it cannot be read, or when its index takes too long."""
        key = (tenant, base)
        try:
            version = await self._shelf.version(tenant, base)
        except RecordsUnavailable:
            self.failures += 1
            return None
        if version is None:
            self._kept.pop(key, None)
            return None
        return await self._as_new_as(version, key)

    async def awaited(self, tenant: TenantId, base: KnowledgeBaseId) -> IndexedBase | None:
        """As `current`, however long that takes, for work that nobody waits for; None only when there is no such base.
        Raises `RecordsUnavailable` or `IndexFaulty`."""
        key = (tenant, base)
        version = await self._shelf.version(tenant, base)
        if version is None:
            return None
        while (found := self._fresh(version, key)) is None:
            match await asyncio.shield(self._next_build(key)):
                case _Build.DONE:
                    continue
                case _Build.UNREADABLE:
                    raise RecordsUnavailable("the knowledge base cannot be read now")
                case _Build.FAULTY:
                    raise IndexFaulty("the knowledge base cannot be indexed")
                case _Build.GONE:
                    return None
        self._used(found)
        return found

    async def run(self) -> None:
        while True:
            key = await self._wanted.get()
            ended = _Build.FAULTY
            try:
                ended = await self._build(key)
            except Exception as error:  # noqa: BLE001  one base's fault must not end the indexing of all others
                self.faults += 1
                log_fault("a knowledge base could not be indexed", error, tenant=str(key[0]), base=str(key[1]))
            finally:
                self._coming.pop(key).set_result(ended)

    async def _as_new_as(self, version: int, key: _Key) -> IndexedBase | None:
        try:
            async with asyncio.timeout(self._patience_s):
                while (found := self._fresh(version, key)) is None:
                    # A build that had begun before the change is no use; the next one is.
                    if await asyncio.shield(self._next_build(key)) is not _Build.DONE:
                        return None
        except TimeoutError:
            self.late += 1
            return None
        self._used(found)
        return found

    def _fresh(self, version: int, key: _Key) -> IndexedBase | None:
        kept = self._kept.get(key)
        if kept is None or kept.version < version:
            return None
        self._kept.move_to_end(key)
        return kept

    def _next_build(self, key: _Key) -> asyncio.Future[_Build]:
        if key not in self._coming:
            self._coming[key] = asyncio.get_running_loop().create_future()
            self._wanted.put_nowait(key)
        return self._coming[key]

    async def _build(self, key: _Key) -> _Build:
        try:
            contents = await self._shelf.chunks(*key)
        except RecordsUnavailable:
            self.failures += 1
            return _Build.UNREADABLE
        if contents is None:
            self._kept.pop(key, None)
            return _Build.GONE
        words = await self._indexer.index(contents.chunks)
        self.built += 1
        self._keep(key, IndexedBase(*key, contents.version, contents.chunks, words))
        return _Build.DONE

    def _keep(self, key: _Key, made: IndexedBase) -> None:
        self._kept[key] = made
        self._kept.move_to_end(key)
        while len(self._kept) > 1 and self.size > self._room:
            self._kept.popitem(last=False)
