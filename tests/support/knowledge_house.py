"""Knowledge use cases on dictionaries, with a reader that takes text as it is and counts words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.domain.chunking import Block
from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.knowledge import MediaType, Shelved
from sessions.errors import DocumentUnreadable
from sessions.knowledge_ports import DocumentReader
from sessions.moderation_ports import Moderation
from sessions.settings import DocumentSettings
from sessions.use_cases.add_document import AddDocument, Cutting, Upload
from sessions.use_cases.create_knowledge_base import CreateKnowledgeBase
from tests.support.moderated import moderation
from tests.support.records_world import HERE, People
from tests.support.session_fakes import FakeClock

SETTINGS = DocumentSettings(chunk_tokens=16, overlap_tokens=4, base_chunks=6)


class LineReader(DocumentReader):
    """Each line is a block; one that begins with # is a heading. A text of nothing but `broken` cannot be read."""

    @override
    async def read(self, media_type: MediaType, raw: bytes) -> Sequence[Block]:
        if raw == b"broken":
            raise DocumentUnreadable("malformed", "the document cannot be read")
        found: list[Block] = []
        heading: tuple[str, ...] = ()
        for line in raw.decode().split("\n"):
            if line.startswith("#"):
                heading = (line.strip("# "),)
            else:
                found.append(Block(heading, line))
        return found


@dataclass
class KnowledgeHouse:
    knowledge: MemoryKnowledge = field(default_factory=MemoryKnowledge)
    clock: FakeClock = field(default_factory=FakeClock)
    desk: Moderation = field(default_factory=moderation)

    @property
    def create(self) -> CreateKnowledgeBase:
        return CreateKnowledgeBase(library=self.knowledge, clock=self.clock)

    @property
    def add(self) -> AddDocument:
        return AddDocument(
            library=self.knowledge,
            catalogue=self.knowledge,
            reader=LineReader(),
            cutting=Cutting(lambda text: len(text.split()), SETTINGS),
            clock=self.clock,
            moderation=self.desk,
        )

    async def base(self, name: str = "products", people: People = HERE, guidance: str = "") -> KnowledgeBaseId:
        made, _ = await self.create(people.teacher, name, guidance)
        return made.id

    async def put(self, base: KnowledgeBaseId, text: str, name: str = "prices", *, people: People = HERE) -> Shelved:
        return await self.add(people.teacher, base, Upload(name, MediaType.TEXT, text.encode()))
