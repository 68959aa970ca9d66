"""What callers may do with knowledge, made once and handed to the API."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.errors import TooManyUploads
from sessions.knowledge_ports import Catalogue, DocumentReader, Library
from sessions.moderation_ports import Moderation
from sessions.ports import Clock
from sessions.use_cases.add_document import AddDocument, Cutting
from sessions.use_cases.create_knowledge_base import CreateKnowledgeBase
from sessions.use_cases.read_document import ListDocuments, ReadDocument
from sessions.use_cases.read_knowledge_base import ListKnowledgeBases, ReadKnowledgeBase
from sessions.use_cases.remove_document import RemoveDocument
from sessions.use_cases.remove_knowledge_base import RemoveKnowledgeBase


class Uploads:
    """The documents that this process has in memory, each from before its first byte until it is stored."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._count = 0

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Raises `TooManyUploads`."""
        if self._count >= self._most:
            raise TooManyUploads(limit=self._most)
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1


@dataclass(frozen=True, slots=True)
class KnowledgeCases:
    uploads: Uploads
    create_base: CreateKnowledgeBase
    read_base: ReadKnowledgeBase
    list_bases: ListKnowledgeBases
    remove_base: RemoveKnowledgeBase
    add_document: AddDocument
    read_document: ReadDocument
    list_documents: ListDocuments
    remove_document: RemoveDocument


def knowledge_cases(
    *,
    library: Library,
    catalogue: Catalogue,
    reader: DocumentReader,
    cutting: Cutting,
    clock: Clock,
    moderation: Moderation,
) -> KnowledgeCases:
    return KnowledgeCases(
        uploads=Uploads(most=cutting.settings.in_hand),
        create_base=CreateKnowledgeBase(library=library, clock=clock),
        read_base=ReadKnowledgeBase(catalogue=catalogue),
        list_bases=ListKnowledgeBases(catalogue=catalogue),
        remove_base=RemoveKnowledgeBase(library=library),
        add_document=AddDocument(
            library=library, catalogue=catalogue, reader=reader, cutting=cutting, clock=clock, moderation=moderation
        ),
        read_document=ReadDocument(catalogue=catalogue),
        list_documents=ListDocuments(catalogue=catalogue),
        remove_document=RemoveDocument(library=library),
    )
