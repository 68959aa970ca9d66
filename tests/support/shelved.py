"""A knowledge base with one document in it, put there without reading any file."""

from datetime import UTC, datetime
from uuid import uuid4

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Document, KnowledgeBase, MediaType
from sessions.domain.viewer import AccountId, TenantId
from sessions.knowledge_ports import Library

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
GUIDANCE = "Answer for a shop."


async def shelved(
    library: Library, tenant: TenantId, *texts: str, by: AccountId | None = None, heading: str = ""
) -> tuple[KnowledgeBase, Document]:
    """`texts` are the document's chunks, a token for each word; the author needs to exist in a real database."""
    author = by or AccountId(uuid4())
    base = await library.add_base(
        KnowledgeBase(
            id=KnowledgeBaseId(uuid4()),
            tenant=tenant,
            name=f"Handbook {uuid4()}",
            guidance=GUIDANCE,
            version=1,
            document_count=0,
            chunk_count=0,
            created_by=author,
            created_at=AT,
        )
    )
    return base, await put(library, base, *(texts or ("Returns are free within 14 days.",)), heading=heading)


async def put(library: Library, base: KnowledgeBase, *texts: str, heading: str = "") -> Document:
    identity, name = DocumentId(uuid4()), "Returns"
    chunks = [
        Chunk(identity, name, number, heading, text, len(text.split())) for number, text in enumerate(texts, start=1)
    ]
    document = Document(
        id=identity,
        tenant=base.tenant,
        base=base.id,
        name=name,
        media_type=MediaType.TEXT,
        sha256=str(identity),
        size_bytes=sum(len(text) for text in texts),
        tokens=sum(chunk.tokens for chunk in chunks),
        chunk_count=len(chunks),
        created_by=base.created_by,
        created_at=AT,
    )
    return (await library.put_document(document, chunks, max_chunks=10_000)).document
