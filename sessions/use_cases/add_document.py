"""Put a document into a knowledge base: its text is taken out, cut into chunks, and stored at once or not at all.

A document that has anything in it that moderation blocks is refused, with the place and without the words.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from sessions.domain.chunking import Block, Count, Piece, pieces
from sessions.domain.citation import DocumentId, KnowledgeBaseId
from sessions.domain.knowledge import Chunk, Document, MediaType, Shelved, checked_name, digest
from sessions.domain.moderation import Mark
from sessions.domain.viewer import Viewer
from sessions.errors import DocumentBlocked, DocumentUnreadable, KnowledgeBaseFull
from sessions.knowledge_ports import Catalogue, DocumentReader, Library
from sessions.knowledge_screen import KnowledgeScreen
from sessions.moderation_ports import Moderation
from sessions.ports import Clock
from sessions.remembered_verdicts import RememberedVerdicts
from sessions.settings import DocumentSettings
from sessions.use_cases.read_knowledge_base import ReadKnowledgeBase


@dataclass(frozen=True, slots=True)
class Cutting:
    """How texts are cut. `count` is the served model's, and is called from any thread."""

    count: Count
    settings: DocumentSettings

    def pieces_of(self, blocks: list[Block]) -> list[Piece]:
        return pieces(
            blocks,
            max_tokens=self.settings.chunk_tokens,
            overlap_tokens=self.settings.overlap_tokens,
            count=self.count,
        )


@dataclass(frozen=True, slots=True)
class Upload:
    """What an author sends."""

    name: str
    media_type: MediaType
    raw: bytes


class AddDocument:
    def __init__(
        self,
        *,
        library: Library,
        catalogue: Catalogue,
        reader: DocumentReader,
        cutting: Cutting,
        clock: Clock,
        moderation: Moderation,
    ) -> None:
        self._library = library
        self._read_base = ReadKnowledgeBase(catalogue=catalogue)
        self._reader = reader
        self._cutting = cutting
        self._clock = clock
        self._moderation = moderation
        self._screen = KnowledgeScreen(RememberedVerdicts())
        # No more than are read: turns need threads too, for searching.
        self._places = asyncio.Semaphore(cutting.settings.at_once)

    async def __call__(self, author: Viewer, base: KnowledgeBaseId, upload: Upload) -> Shelved:
        """A document of the same name is replaced; one that says the same stays as it is.

        Raises `KnowledgeBaseNotFound`, `KnowledgeInvalid`, `DocumentUnreadable`, `KnowledgeBaseFull`,
        `DocumentBlocked` or `ModerationUnavailable`.
        """
        name = checked_name(upload.name)
        await self._read_base(author, base)
        blocks = await self._reader.read(upload.media_type, upload.raw)
        async with self._places:
            cut = await asyncio.to_thread(self._cutting.pieces_of, list(blocks))
        sha256 = await asyncio.to_thread(digest, upload.raw)
        if not cut:
            raise DocumentUnreadable("no_text", "the document holds nothing but characters that nobody can read")
        most = self._cutting.settings.base_chunks
        if len(cut) > most:  # told before a million of them become objects
            raise KnowledgeBaseFull(chunks=len(cut), limit=most)
        document = Document(
            id=DocumentId(uuid4()),
            tenant=author.tenant,
            base=base,
            name=name,
            media_type=upload.media_type,
            sha256=sha256,
            size_bytes=len(upload.raw),
            tokens=sum(piece.tokens for piece in cut),
            chunk_count=len(cut),
            created_by=author.account,
            created_at=self._clock.now(),
        )
        chunks = [_chunk(document, number, piece) for number, piece in enumerate(cut, start=1)]
        document = replace(document, flagged_chunks=await self._flagged(author, chunks))
        return await self._library.put_document(document, chunks, max_chunks=most)

    async def _flagged(self, author: Viewer, chunks: Sequence[Chunk]) -> int:
        """How many chunks something was found in that does not block; raises `DocumentBlocked` for the first one that
        is blocked."""
        rules, flagged = await self._moderation.rules(author.tenant), 0
        async with self._places:
            for chunk in chunks:
                found = await self._screen.found(rules, chunk)
                if found.blocked is not None:
                    findings = _named(found.judgement.marks)
                    raise DocumentBlocked(found.blocked, chunk=chunk.number, findings=findings)
                flagged += bool(found.judgement.marks)
        return flagged


def _named(marks: Sequence[Mark]) -> list[dict[str, str]]:
    """The rules, each once, and the lists that they stand in."""
    rules = dict.fromkeys((mark.source, mark.rule, mark.list_name) for mark in marks)
    return [{"source": source, "rule": rule, "list": name} for source, rule, name in rules]


def _chunk(document: Document, number: int, piece: Piece) -> Chunk:
    return Chunk(document.id, document.name, number, piece.heading, piece.text, piece.tokens)
