"""What the tables of knowledge refuse, whatever a statement of ours gets wrong."""

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.knowledge_library import PostgresLibrary
from sessions.adapters.postgres.knowledge_tables import knowledge_bases, knowledge_chunks, knowledge_documents
from tests.support.knowledge_fixture import write_bases
from tests.support.knowledge_world import MANY, chunks, document, knowledge_base
from tests.support.records_world import ELSEWHERE, HERE, NOON, settle, uuid_of

pytestmark = pytest.mark.postgres

BASE = {
    **dict.fromkeys(("document_count", "chunk_count"), 0),
    "id": uuid_of("b"),
    "tenant_id": HERE.tenant,
    "name": "another",
    "guidance": "",
    "version": 1,
    "created_by": HERE.instructor,
    "created_at": NOON,
}
DOCUMENT = {
    **dict.fromkeys(("size_bytes", "tokens", "chunk_count"), 1),
    "id": uuid_of("d"),
    "tenant_id": HERE.tenant,
    "base_id": knowledge_base().id,
    "name": "another",
    "media_type": "text/plain",
    "sha256": "",
    "created_by": HERE.instructor,
    "created_at": NOON,
}
CHUNK = {
    **dict.fromkeys(("heading", "text"), ""),
    "document_id": document().id,
    "number": 7,
    "tenant_id": HERE.tenant,
    "base_id": knowledge_base().id,
    "tokens": 1,
}


@pytest.fixture
async def filled(database_engine: AsyncEngine) -> AsyncEngine:
    """A database with a document of a tenant in it."""
    await settle(database_engine)
    library = PostgresLibrary(engine=database_engine)
    await write_bases(library)
    await library.put_document(document(), chunks(document()), max_chunks=MANY)
    return database_engine


async def test_what_is_whole_is_taken(filled: AsyncEngine) -> None:
    async with filled.begin() as connection:
        await connection.execute(insert(knowledge_bases).values(BASE))
        await connection.execute(insert(knowledge_documents).values(DOCUMENT))
        await connection.execute(insert(knowledge_chunks).values(CHUNK))


@pytest.mark.parametrize(
    ("statement", "refused_by"),
    [
        (insert(knowledge_bases).values({**BASE, "tenant_id": ELSEWHERE.tenant}), "knowledge_bases_author_fkey"),
        (insert(knowledge_bases).values({**BASE, "name": "products"}), "knowledge_bases_tenant_id_name_key"),
        (
            insert(knowledge_documents).values({**DOCUMENT, "tenant_id": ELSEWHERE.tenant}),
            "knowledge_documents_(base|author)_fkey",
        ),
        (
            insert(knowledge_documents).values({**DOCUMENT, "base_id": knowledge_base(people=ELSEWHERE).id}),
            "knowledge_documents_base_fkey",
        ),
        (
            insert(knowledge_documents).values({**DOCUMENT, "created_by": ELSEWHERE.instructor}),
            "knowledge_documents_author_fkey",
        ),
        (insert(knowledge_documents).values({**DOCUMENT, "name": "prices"}), "knowledge_documents_base_id_name_key"),
        (insert(knowledge_chunks).values({**CHUNK, "tenant_id": ELSEWHERE.tenant}), "knowledge_chunks_document_fkey"),
        (
            insert(knowledge_chunks).values({**CHUNK, "base_id": knowledge_base(people=ELSEWHERE).id}),
            "knowledge_chunks_document_fkey",
        ),
        (insert(knowledge_chunks).values({**CHUNK, "number": 1}), "knowledge_chunks_pkey"),
        (text("update knowledge_chunks set number = 0 where number = 1"), "knowledge_chunks_number_check"),
        (text("update knowledge_chunks set embedding = 'x'"), "knowledge_chunks_embedding_check"),
        (text("update knowledge_documents set chunk_count = 0"), "knowledge_documents_chunk_count_check"),
        (text("update knowledge_bases set chunk_count = 0"), "knowledge_bases_counts_check"),
        (text("update knowledge_bases set version = 0"), "knowledge_bases_version_check"),
    ],
)
async def test_what_crosses_a_wall_or_cannot_be_is_refused(
    filled: AsyncEngine, statement: object, refused_by: str
) -> None:
    with pytest.raises(IntegrityError, match=refused_by):
        async with filled.begin() as connection:
            await connection.execute(statement)  # type: ignore[call-overload]


async def test_what_is_in_a_base_goes_with_it(filled: AsyncEngine) -> None:
    async with filled.begin() as connection:
        await connection.execute(text("delete from knowledge_bases"))
        left = await connection.execute(text("select count(*) from knowledge_chunks"))
        assert left.scalar_one() == 0
