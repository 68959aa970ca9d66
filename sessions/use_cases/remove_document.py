"""Remove a document from a knowledge base; the next question no longer finds it."""

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.viewer import Viewer
from sessions.knowledge_ports import Library


class RemoveDocument:
    def __init__(self, *, library: Library) -> None:
        self._library = library

    async def __call__(self, author: Viewer, base: KnowledgeBaseId, document: DocumentId) -> None:
        """Raises `KnowledgeBaseNotFound` or `DocumentNotFound`."""
        await self._library.remove_document(author.tenant, base, document)
