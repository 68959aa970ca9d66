"""Read what is known of one document of a base, or list its documents; their text is for the tutor."""

from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Document
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import Viewer
from sessions.errors import DocumentNotFound
from sessions.knowledge_ports import Catalogue
from sessions.use_cases.read_knowledge_base import ReadKnowledgeBase


class ReadDocument:
    def __init__(self, *, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._read_base = ReadKnowledgeBase(catalogue=catalogue)

    async def __call__(self, viewer: Viewer, base: KnowledgeBaseId, document: DocumentId) -> Document:
        """Raises `KnowledgeBaseNotFound` or `DocumentNotFound`."""
        found = await self._catalogue.document(viewer.tenant, base, document)
        if found is None:
            await self._read_base(viewer, base)
            raise DocumentNotFound("the base has no such document")
        return found


class ListDocuments:
    def __init__(self, *, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._read_base = ReadKnowledgeBase(catalogue=catalogue)

    async def __call__(
        self, viewer: Viewer, base: KnowledgeBaseId, limit: int, after: Cursor | None = None
    ) -> Page[Document]:
        """Raises `KnowledgeBaseNotFound`."""
        await self._read_base(viewer, base)
        return await self._catalogue.documents(viewer.tenant, base, limit=limit, after=after)
