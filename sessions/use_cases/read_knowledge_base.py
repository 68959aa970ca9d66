"""Read one knowledge base, or list them."""

from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.knowledge import KnowledgeBase
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import Viewer
from sessions.errors import KnowledgeBaseNotFound
from sessions.knowledge_ports import Catalogue


class ReadKnowledgeBase:
    def __init__(self, *, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def __call__(self, viewer: Viewer, base: KnowledgeBaseId) -> KnowledgeBase:
        """Raises `KnowledgeBaseNotFound`."""
        found = await self._catalogue.base(viewer.tenant, base)
        if found is None:
            raise KnowledgeBaseNotFound("there is no such knowledge base")
        return found


class ListKnowledgeBases:
    def __init__(self, *, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def __call__(self, viewer: Viewer, limit: int, after: Cursor | None = None) -> Page[KnowledgeBase]:
        return await self._catalogue.bases(viewer.tenant, limit=limit, after=after)
