"""Remove a knowledge base with everything in it. Scenarios that name it go on without any background."""

from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.viewer import Viewer
from sessions.knowledge_ports import Library


class RemoveKnowledgeBase:
    def __init__(self, *, library: Library) -> None:
        self._library = library

    async def __call__(self, author: Viewer, base: KnowledgeBaseId) -> None:
        """Raises `KnowledgeBaseNotFound`."""
        await self._library.remove_base(author.tenant, base)
