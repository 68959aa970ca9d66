"""What callers may do with knowledge, made once and handed to the API."""

from dataclasses import dataclass

from sessions.knowledge_ports import Catalogue, DocumentReader, Library
from sessions.ports import Clock
from sessions.use_cases.add_document import AddDocument, Cutting
from sessions.use_cases.create_knowledge_base import CreateKnowledgeBase
from sessions.use_cases.read_document import ListDocuments, ReadDocument
from sessions.use_cases.read_knowledge_base import ListKnowledgeBases, ReadKnowledgeBase
from sessions.use_cases.remove_document import RemoveDocument
from sessions.use_cases.remove_knowledge_base import RemoveKnowledgeBase


@dataclass(frozen=True, slots=True)
class KnowledgeCases:
    create_base: CreateKnowledgeBase
    read_base: ReadKnowledgeBase
    list_bases: ListKnowledgeBases
    remove_base: RemoveKnowledgeBase
    add_document: AddDocument
    read_document: ReadDocument
    list_documents: ListDocuments
    remove_document: RemoveDocument


def knowledge_cases(
    *, library: Library, catalogue: Catalogue, reader: DocumentReader, cutting: Cutting, clock: Clock
) -> KnowledgeCases:
    return KnowledgeCases(
        create_base=CreateKnowledgeBase(library=library, clock=clock),
        read_base=ReadKnowledgeBase(catalogue=catalogue),
        list_bases=ListKnowledgeBases(catalogue=catalogue),
        remove_base=RemoveKnowledgeBase(library=library),
        add_document=AddDocument(library=library, catalogue=catalogue, reader=reader, cutting=cutting, clock=clock),
        read_document=ReadDocument(catalogue=catalogue),
        list_documents=ListDocuments(catalogue=catalogue),
        remove_document=RemoveDocument(library=library),
    )
