"""Knowledge bases and documents of both tenants, to put into a library."""

from datetime import datetime, timedelta

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Document, KnowledgeBase, MediaType, digest
from tests.support.records_world import HERE, NOON, People, uuid_of

MANY = 1000
"""More chunks than any test writes into a base."""


def knowledge_base(
    name: str = "products", people: People = HERE, *, at: datetime = NOON, guidance: str = "Quote prices exactly."
) -> KnowledgeBase:
    return KnowledgeBase(
        id=KnowledgeBaseId(uuid_of(f"{people.tenant}/{name}")),
        tenant=people.tenant,
        name=name,
        guidance=guidance,
        version=1,
        document_count=0,
        chunk_count=0,
        created_by=people.instructor,
        created_at=at,
    )


def document(
    name: str = "prices", *, of: KnowledgeBase | None = None, text: str = "A pump costs 48 yuan.", minutes: int = 0
) -> Document:
    """Of two chunks."""
    base = of or knowledge_base()
    return Document(
        id=DocumentId(uuid_of(f"{base.id}/{name}/{text}/{minutes}")),
        tenant=base.tenant,
        base=base.id,
        name=name,
        media_type=MediaType.TEXT,
        sha256=digest(text.encode()),
        size_bytes=len(text.encode()),
        tokens=len(text),
        chunk_count=2,
        created_by=base.created_by,
        created_at=NOON + timedelta(minutes=minutes),
    )


def chunks(of: Document, text: str = "A pump costs 48 yuan.") -> list[Chunk]:
    return [
        Chunk(of.id, of.name, number, heading, f"{text} 第{number}段 ' \" \\ %s :x", 7)
        for number, heading in ((1, ""), (2, "Prices > Pumps"))
    ]
