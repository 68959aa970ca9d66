"""Create a knowledge base."""

from uuid import uuid4

from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.knowledge import FIRST_VERSION, KnowledgeBase, checked_guidance, checked_name
from sessions.domain.viewer import Viewer
from sessions.knowledge_ports import Library
from sessions.ports import Clock


class CreateKnowledgeBase:
    def __init__(self, *, library: Library, clock: Clock) -> None:
        self._library = library
        self._clock = clock

    async def __call__(self, author: Viewer, name: str, guidance: str = "") -> tuple[KnowledgeBase, bool]:
        """The base, and whether it is new: the same one again is the first one.

        Raises `KnowledgeInvalid` or `KnowledgeBaseExists`.
        """
        wanted = KnowledgeBase(
            id=KnowledgeBaseId(uuid4()),
            tenant=author.tenant,
            name=checked_name(name),
            guidance=checked_guidance(guidance),
            version=FIRST_VERSION,
            document_count=0,
            chunk_count=0,
            created_by=author.account,
            created_at=self._clock.now(),
        )
        base = await self._library.add_base(wanted)
        return base, base.id == wanted.id
