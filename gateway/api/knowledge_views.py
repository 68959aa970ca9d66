"""What callers get to see of knowledge bases and documents; never their text, which is for the tutor."""

from datetime import datetime
from typing import Self
from uuid import UUID

from gateway.api.views import View
from sessions.domain.knowledge import Document, KnowledgeBase


class KnowledgeBaseView(View):
    id: UUID
    name: str
    guidance: str
    version: int
    document_count: int
    chunk_count: int
    created_at: datetime

    @classmethod
    def of(cls, base: KnowledgeBase) -> Self:
        return cls.model_validate(base)


class DocumentView(View):
    id: UUID
    knowledge_base_id: UUID
    name: str
    media_type: str
    sha256: str
    size_bytes: int
    tokens: int
    chunk_count: int
    flagged_chunks: int
    created_at: datetime

    @classmethod
    def of(cls, document: Document) -> Self:
        return cls(
            id=document.id,
            knowledge_base_id=document.base,
            name=document.name,
            media_type=document.media_type,
            sha256=document.sha256,
            size_bytes=document.size_bytes,
            tokens=document.tokens,
            chunk_count=document.chunk_count,
            flagged_chunks=document.flagged_chunks,
            created_at=document.created_at,
        )
