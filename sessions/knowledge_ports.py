"""Where knowledge is kept: written by instructors, read by everything that needs background.

What is kept is asked for with its tenant, always, and what belongs to another one is answered like what does not exist.
`RecordsUnavailable` is raised when the database cannot be asked.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from sessions.domain.chunking import Block
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Contents, Document, KnowledgeBase, MediaType, Shelved
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import TenantId


class Library(Protocol):
    """What changes knowledge; each method is one transaction."""

    async def add_base(self, base: KnowledgeBase) -> KnowledgeBase:
        """Write a new base; where the tenant has one of this name with the same guidance, write nothing and return
        that.

        Raises `KnowledgeBaseExists` when the guidance is another.
        """

    async def put_document(self, document: Document, chunks: Sequence[Chunk], *, max_chunks: int) -> Shelved:
        """Write a document with its chunks in place of the one of the same name; one that says the same stays.

        Raises `KnowledgeBaseNotFound`, or `KnowledgeBaseFull` when the base would have more than `max_chunks`.
        """

    async def remove_document(self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId) -> None:
        """Raises `KnowledgeBaseNotFound` or `DocumentNotFound`."""

    async def remove_base(self, tenant: TenantId, base: KnowledgeBaseId) -> None:
        """The base with everything in it; raises `KnowledgeBaseNotFound`."""

    async def set_vectors(
        self, tenant: TenantId, document: DocumentId, model: str, vectors: Mapping[int, bytes]
    ) -> None:
        """Keep what an embedding model made of a document's chunks, by their numbers, in place of what was kept before;
        chunks that are gone are passed over. The base's version stays: its text is the same."""


class Catalogue(Protocol):
    """What there is, without its text."""

    async def base(self, tenant: TenantId, base: KnowledgeBaseId) -> KnowledgeBase | None: ...

    async def bases(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[KnowledgeBase]:
        """Newest first."""

    async def document(self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId) -> Document | None: ...

    async def documents(
        self, tenant: TenantId, base: KnowledgeBaseId, *, limit: int, after: Cursor | None = None
    ) -> Page[Document]:
        """Newest first; empty also where there is no such base."""


class Shelf(Protocol):
    """The text itself."""

    async def version(self, tenant: TenantId, base: KnowledgeBaseId) -> int | None:
        """The base's version now; None where there is no such base."""

    async def chunks(self, tenant: TenantId, base: KnowledgeBaseId) -> Contents | None:
        """Every chunk of the base, all of one version; None where there is no such base."""

    async def chunks_of(
        self, tenant: TenantId, base: KnowledgeBaseId, document: DocumentId, *, first: int = 1, last: int | None = None
    ) -> Sequence[Chunk]:
        """The chunks of one document by number, or those from `first` to `last`; none where there is no such document
        in this base."""

    async def vectors(
        self, tenant: TenantId, base: KnowledgeBaseId, model: str
    ) -> Mapping[tuple[DocumentId, int], bytes]:
        """What this embedding model made of the base's chunks, by document and number, as far as it is there."""


class DocumentReader(Protocol):
    """Takes the text out of an upload."""

    async def read(self, media_type: MediaType, raw: bytes) -> Sequence[Block]:
        """Its blocks in the order of the text, at least one with text in it; raises `DocumentUnreadable`."""
