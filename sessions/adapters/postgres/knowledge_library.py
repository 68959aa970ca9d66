"""What changes knowledge in Postgres. The base's row is locked first, so that its counts and its version hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as insert_unless_there
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.knowledge_catalogue import base_of, document_of
from sessions.adapters.postgres.knowledge_tables import knowledge_bases, knowledge_chunks, knowledge_documents
from sessions.adapters.postgres.transaction import Transaction, begun
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Document, KnowledgeBase, Shelved, Shelving
from sessions.domain.viewer import TenantId
from sessions.errors import DocumentNotFound, KnowledgeBaseExists, KnowledgeBaseFull, KnowledgeBaseNotFound
from sessions.knowledge_ports import Library


class PostgresLibrary(Library):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = 60.0) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def add_base(self, base: KnowledgeBase) -> KnowledgeBase:
        table = knowledge_bases.c
        async with begun(self._engine, of=base.tenant, limit_s=self._limit_s) as running:
            await running.changed(
                insert_unless_there(knowledge_bases)
                .values(_base_values(base))
                .on_conflict_do_nothing(index_elements=[table.tenant_id, table.name])
            )
            row = await running.one(
                select(knowledge_bases).where(table.tenant_id == base.tenant, table.name == base.name)
            )
        if row is None or row.guidance != base.guidance:  # none: it was removed at the same moment
            raise KnowledgeBaseExists("there is a knowledge base of this name, with another guidance")
        return base_of(row)

    @override
    async def put_document(self, document: Document, chunks: Sequence[Chunk], *, max_chunks: int) -> Shelved:
        async with begun(self._engine, of=document.tenant, limit_s=self._limit_s) as running:
            base = await _locked(running, document.tenant, document.base)
            earlier = await _named(running, document)
            if earlier is not None and earlier.says_the_same_as(document):
                return Shelved(earlier, Shelving.UNCHANGED)
            gone = 0 if earlier is None else earlier.chunk_count
            if base.chunk_count - gone + len(chunks) > max_chunks:
                raise KnowledgeBaseFull(chunks=base.chunk_count - gone + len(chunks), limit=max_chunks)
            if earlier is not None:
                await running.changed(delete(knowledge_documents).where(knowledge_documents.c.id == earlier.id))
            await running.changed(insert(knowledge_documents).values(_document_values(document)))
            await running.each(insert(knowledge_chunks), [_chunk_values(document, chunk) for chunk in chunks])
            await _count(running, base, documents=0 if earlier else 1, chunks=len(chunks) - gone)
        return Shelved(document, Shelving.ADDED if earlier is None else Shelving.REPLACED)

    @override
    async def remove_document(self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId) -> None:
        table = knowledge_documents.c
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            locked = await _locked(running, tenant, base)
            gone = await running.one(
                delete(knowledge_documents)
                .where(table.tenant_id == tenant, table.base_id == base, table.id == document)
                .returning(table.chunk_count)
            )
            if gone is None:
                raise DocumentNotFound("the base has no such document")
            await _count(running, locked, documents=-1, chunks=-gone.chunk_count)

    @override
    async def remove_base(self, tenant: TenantId, base: KnowledgeBaseId) -> None:
        table = knowledge_bases.c
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            if not await running.changed(delete(knowledge_bases).where(table.tenant_id == tenant, table.id == base)):
                raise KnowledgeBaseNotFound("there is no such knowledge base")

    @override
    async def set_vectors(
        self, tenant: TenantId, document: DocumentId, model: str, vectors: Mapping[int, bytes]
    ) -> None:
        table = knowledge_chunks.c
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            await running.each(
                update(knowledge_chunks)
                .where(
                    table.tenant_id == tenant,
                    table.document_id == document,
                    table.number == bindparam("of_number"),
                )
                .values(embedding_model=model, embedding=bindparam("vector")),
                [{"of_number": number, "vector": vector} for number, vector in vectors.items()],
            )


async def _locked(running: Transaction, tenant: TenantId, base: KnowledgeBaseId) -> Row[Any]:
    """The base's row, nobody else's to change until the end of the transaction."""
    table = knowledge_bases.c
    row = await running.one(
        select(knowledge_bases).where(table.tenant_id == tenant, table.id == base).with_for_update()
    )
    if row is None:
        raise KnowledgeBaseNotFound("there is no such knowledge base")
    return row


async def _named(running: Transaction, document: Document) -> Document | None:
    table = knowledge_documents.c
    row = await running.one(
        select(knowledge_documents).where(
            table.tenant_id == document.tenant, table.base_id == document.base, table.name == document.name
        )
    )
    return None if row is None else document_of(row)


async def _count(running: Transaction, base: Row[Any], *, documents: int, chunks: int) -> None:
    await running.changed(
        update(knowledge_bases)
        .where(knowledge_bases.c.id == base.id)
        .values(
            version=base.version + 1,
            document_count=base.document_count + documents,
            chunk_count=base.chunk_count + chunks,
        )
    )


def _base_values(base: KnowledgeBase) -> dict[str, object]:
    return {
        "id": base.id,
        "tenant_id": base.tenant,
        "name": base.name,
        "guidance": base.guidance,
        "version": base.version,
        "document_count": base.document_count,
        "chunk_count": base.chunk_count,
        "created_by": base.created_by,
        "created_at": base.created_at,
    }


def _document_values(document: Document) -> dict[str, object]:
    return {
        "id": document.id,
        "tenant_id": document.tenant,
        "base_id": document.base,
        "name": document.name,
        "media_type": document.media_type,
        "sha256": document.sha256,
        "size_bytes": document.size_bytes,
        "tokens": document.tokens,
        "chunk_count": document.chunk_count,
        "flagged_chunks": document.flagged_chunks,
        "created_by": document.created_by,
        "created_at": document.created_at,
    }


def _chunk_values(document: Document, chunk: Chunk) -> dict[str, object]:
    return {
        "document_id": document.id,
        "number": chunk.number,
        "tenant_id": document.tenant,
        "base_id": document.base,
        "heading": chunk.heading,
        "text": chunk.text,
        "tokens": chunk.tokens,
    }
