"""Knowledge on dictionaries, with the same promises; for tests and for trying things out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from typing_extensions import override

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Contents, Document, KnowledgeBase, Shelved, Shelving
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import TenantId
from sessions.errors import DocumentNotFound, KnowledgeBaseExists, KnowledgeBaseFull, KnowledgeBaseNotFound
from sessions.knowledge_ports import Catalogue, Library, Shelf

Item = TypeVar("Item", KnowledgeBase, Document)


class MemoryKnowledge(Library, Catalogue, Shelf):
    """No method awaits anything in its middle, so each is a transaction."""

    def __init__(self) -> None:
        self._bases: dict[KnowledgeBaseId, KnowledgeBase] = {}
        self._documents: dict[DocumentId, Document] = {}
        self._chunks: dict[DocumentId, tuple[Chunk, ...]] = {}
        self._vectors: dict[tuple[DocumentId, int], tuple[str, bytes]] = {}

    @override
    async def add_base(self, base: KnowledgeBase) -> KnowledgeBase:
        for known in self._bases.values():
            if (known.tenant, known.name) == (base.tenant, base.name):
                if known.guidance != base.guidance:
                    raise KnowledgeBaseExists("there is a knowledge base of this name, with another guidance")
                return known
        self._bases[base.id] = base
        return base

    @override
    async def put_document(self, document: Document, chunks: Sequence[Chunk], *, max_chunks: int) -> Shelved:
        base = self._known(document.tenant, document.base)
        earlier = next((known for known in self._of(base) if known.name == document.name), None)
        if earlier is not None and earlier.says_the_same_as(document):
            return Shelved(earlier, Shelving.UNCHANGED)
        total = base.chunk_count - (0 if earlier is None else earlier.chunk_count) + len(chunks)
        if total > max_chunks:
            raise KnowledgeBaseFull(chunks=total, limit=max_chunks)
        if earlier is not None:
            self._drop(earlier)
        self._documents[document.id] = document
        self._chunks[document.id] = tuple(sorted(chunks, key=lambda chunk: chunk.number))
        self._count(base)
        return Shelved(document, Shelving.ADDED if earlier is None else Shelving.REPLACED)

    @override
    async def remove_document(self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId) -> None:
        known = self._known(tenant, base)
        found = await self.document(tenant, base, document)
        if found is None:
            raise DocumentNotFound("the base has no such document")
        self._drop(found)
        self._count(known)

    @override
    async def remove_base(self, tenant: TenantId, base: KnowledgeBaseId) -> None:
        known = self._known(tenant, base)
        for document in self._of(known):
            self._drop(document)
        del self._bases[base]

    @override
    async def set_vectors(
        self, tenant: TenantId, document: DocumentId, model: str, vectors: Mapping[int, bytes]
    ) -> None:
        found = self._documents.get(document)
        if found is not None and found.tenant == tenant:
            there = {chunk.number for chunk in self._chunks[document]}
            self._vectors |= {(document, number): (model, vectors[number]) for number in there & vectors.keys()}

    @override
    async def base(self, tenant: TenantId, base: KnowledgeBaseId) -> KnowledgeBase | None:
        found = self._bases.get(base)
        return found if found is not None and found.tenant == tenant else None

    @override
    async def bases(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[KnowledgeBase]:
        return _page((base for base in self._bases.values() if base.tenant == tenant), limit, after)

    @override
    async def document(self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId) -> Document | None:
        found = self._documents.get(document)
        return found if found is not None and (found.tenant, found.base) == (tenant, base) else None

    @override
    async def documents(
        self, tenant: TenantId, base: KnowledgeBaseId, *, limit: int, after: Cursor | None = None
    ) -> Page[Document]:
        found = await self.base(tenant, base)
        return _page([] if found is None else self._of(found), limit, after)

    @override
    async def version(self, tenant: TenantId, base: KnowledgeBaseId) -> int | None:
        found = await self.base(tenant, base)
        return None if found is None else found.version

    @override
    async def chunks(self, tenant: TenantId, base: KnowledgeBaseId) -> Contents | None:
        found = await self.base(tenant, base)
        if found is None:
            return None
        ordered = sorted(self._of(found), key=_place)
        return Contents(found.version, tuple(chunk for document in ordered for chunk in self._chunks[document.id]))

    @override
    async def chunks_of(
        self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId, *, first: int = 1, last: int | None = None
    ) -> Sequence[Chunk]:
        found = await self.document(tenant, base, document)
        chunks = () if found is None else self._chunks[document]
        return [chunk for chunk in chunks if first <= chunk.number and (last is None or chunk.number <= last)]

    @override
    async def vectors(
        self, tenant: TenantId, base: KnowledgeBaseId, model: str
    ) -> Mapping[tuple[DocumentId, int], bytes]:
        found = await self.base(tenant, base)
        mine = set() if found is None else {document.id for document in self._of(found)}
        return {place: vector for place, (by, vector) in self._vectors.items() if by == model and place[0] in mine}

    def _known(self, tenant: TenantId, base: KnowledgeBaseId) -> KnowledgeBase:
        found = self._bases.get(base)
        if found is None or found.tenant != tenant:
            raise KnowledgeBaseNotFound("there is no such knowledge base")
        return found

    def _of(self, base: KnowledgeBase) -> list[Document]:
        return [document for document in self._documents.values() if document.base == base.id]

    def _drop(self, document: Document) -> None:
        del self._documents[document.id]
        for chunk in self._chunks.pop(document.id):
            self._vectors.pop((document.id, chunk.number), None)

    def _count(self, base: KnowledgeBase) -> None:
        documents = self._of(base)
        self._bases[base.id] = replace(
            base,
            version=base.version + 1,
            document_count=len(documents),
            chunk_count=sum(document.chunk_count for document in documents),
        )


def _place(item: KnowledgeBase | Document) -> tuple[datetime, UUID]:
    return item.created_at, item.id


def _page(items: Iterable[Item], limit: int, after: Cursor | None) -> Page[Item]:
    order: Callable[[Item], tuple[datetime, UUID]] = _place
    rest = sorted((item for item in items if after is None or order(item) < (after.at, after.id)), key=order)[::-1]
    shown = tuple(rest[:limit])
    return Page(shown, Cursor(*order(shown[-1])) if len(rest) > limit else None)
