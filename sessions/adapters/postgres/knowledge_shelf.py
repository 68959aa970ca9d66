"""The text of knowledge in Postgres."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, select
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.knowledge_tables import knowledge_bases, knowledge_chunks, knowledge_documents
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Contents
from sessions.domain.viewer import TenantId
from sessions.knowledge_ports import Shelf

_ORDER = (knowledge_documents.c.created_at, knowledge_documents.c.id, knowledge_chunks.c.number)


class PostgresShelf(Shelf):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def version(self, tenant: TenantId, base: KnowledgeBaseId) -> int | None:
        table = knowledge_bases.c
        row = await self._all(tenant, select(table.version).where(table.tenant_id == tenant, table.id == base))
        return row[0].version if row else None

    @override
    async def chunks(self, tenant: TenantId, base: KnowledgeBaseId) -> Contents | None:
        # One statement sees one moment: a document that is replaced meanwhile is there once, as before or as after.
        wanted = (
            select(knowledge_bases.c.version, *_chunk_columns())
            .select_from(knowledge_bases)
            .outerjoin(knowledge_documents)
            .outerjoin(knowledge_chunks)
            .where(knowledge_bases.c.tenant_id == tenant, knowledge_bases.c.id == base)
            .order_by(*_ORDER)
        )
        version, chunks = None, list[Chunk]()
        async for rows in self._parts(tenant, wanted):
            version = rows[0].version
            chunks += [_chunk(row) for row in rows if row.number is not None]
        return None if version is None else Contents(version, tuple(chunks))

    @override
    async def chunks_of(
        self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId, *, first: int = 1, last: int | None = None
    ) -> Sequence[Chunk]:
        wanted = (
            select(*_chunk_columns())
            .join_from(knowledge_chunks, knowledge_documents)
            .where(
                knowledge_chunks.c.tenant_id == tenant,
                knowledge_chunks.c.base_id == base,
                knowledge_chunks.c.document_id == document,
                knowledge_chunks.c.number >= first,
            )
            .order_by(*_ORDER)
        )
        if last is not None:
            wanted = wanted.where(knowledge_chunks.c.number <= last)
        return [_chunk(row) async for rows in self._parts(tenant, wanted) for row in rows]

    @override
    async def vectors(
        self, tenant: TenantId, base: KnowledgeBaseId, model: str
    ) -> Mapping[tuple[DocumentId, int], bytes]:
        table = knowledge_chunks.c
        wanted = select(table.document_id, table.number, table.embedding).where(
            table.tenant_id == tenant, table.base_id == base, table.embedding_model == model
        )
        return {
            (row.document_id, row.number): row.embedding async for rows in self._parts(tenant, wanted) for row in rows
        }

    async def _all(self, tenant: TenantId, statement: Select[Any]) -> Sequence[Row[Any]]:
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            return await running.all(statement)

    async def _parts(self, tenant: TenantId, statement: Select[Any]) -> AsyncIterator[Sequence[Row[Any]]]:
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            async for rows in running.parts(statement):
                yield rows


def _chunk_columns() -> tuple[Any, ...]:
    table = knowledge_chunks.c
    return (
        table.document_id,
        knowledge_documents.c.name.label("document_name"),
        table.number,
        table.heading,
        table.text,
        table.tokens,
    )


def _chunk(row: Row[Any]) -> Chunk:
    return Chunk(
        document=row.document_id,
        document_name=row.document_name,
        number=row.number,
        heading=row.heading,
        text=row.text,
        tokens=row.tokens,
    )
