"""What knowledge there is, in Postgres: bases and documents without their text."""

from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.knowledge_tables import knowledge_bases, knowledge_documents
from sessions.adapters.postgres.paging import page, paged
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Document, KnowledgeBase, MediaType
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import TenantId
from sessions.knowledge_ports import Catalogue


class PostgresCatalogue(Catalogue):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def base(self, tenant: TenantId, base: KnowledgeBaseId) -> KnowledgeBase | None:
        wanted = select(knowledge_bases).where(knowledge_bases.c.tenant_id == tenant, knowledge_bases.c.id == base)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            row = await running.one(wanted)
        return None if row is None else base_of(row)

    @override
    async def bases(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[KnowledgeBase]:
        table = knowledge_bases.c
        mine = select(knowledge_bases).where(table.tenant_id == tenant)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            rows = await running.all(paged(mine, table.created_at, table.id, limit=limit, after=after))
        return page(rows, limit, item=base_of, place="created_at")

    @override
    async def document(self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId) -> Document | None:
        table = knowledge_documents.c
        wanted = select(knowledge_documents).where(
            table.tenant_id == tenant, table.base_id == base, table.id == document
        )
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            row = await running.one(wanted)
        return None if row is None else document_of(row)

    @override
    async def documents(
        self, tenant: TenantId, base: KnowledgeBaseId, *, limit: int, after: Cursor | None = None
    ) -> Page[Document]:
        table = knowledge_documents.c
        mine = select(knowledge_documents).where(table.tenant_id == tenant, table.base_id == base)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            rows = await running.all(paged(mine, table.created_at, table.id, limit=limit, after=after))
        return page(rows, limit, item=document_of, place="created_at")


def base_of(row: Row[Any]) -> KnowledgeBase:
    return KnowledgeBase(
        id=row.id,
        tenant=row.tenant_id,
        name=row.name,
        guidance=row.guidance,
        version=row.version,
        document_count=row.document_count,
        chunk_count=row.chunk_count,
        created_by=row.created_by,
        created_at=row.created_at,
    )


def document_of(row: Row[Any]) -> Document:
    return Document(
        id=row.id,
        tenant=row.tenant_id,
        base=row.base_id,
        name=row.name,
        media_type=MediaType(row.media_type),
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        tokens=row.tokens,
        chunk_count=row.chunk_count,
        created_by=row.created_by,
        created_at=row.created_at,
        flagged_chunks=row.flagged_chunks,
    )
