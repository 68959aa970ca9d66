"""Knowledge bases and their documents: where they are kept, how they are read, and by whose tokens they are cut."""

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.knowledge_cases import KnowledgeCases, knowledge_cases
from gateway.settings import Settings
from gateway.wiring.clock import SystemClock
from sessions.adapters.document_process import DocumentProcesses
from sessions.adapters.postgres.knowledge_catalogue import PostgresCatalogue
from sessions.adapters.postgres.knowledge_library import PostgresLibrary
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.domain.neutralise import neutralised
from sessions.moderation_ports import Moderation
from sessions.settings import DocumentSettings
from sessions.use_cases.add_document import Cutting


def knowledge(
    settings: Settings, engine: AsyncEngine, counter: ModelTokenizer, moderation: Moderation
) -> KnowledgeCases:
    """`counter` is the default model's: chunks are cut once, whatever model will be shown them."""
    documents = settings.sessions.documents

    def count(text: str) -> int:
        return counter.count_once(neutralised(text, counter.special_tokens))

    return knowledge_cases(
        library=PostgresLibrary(engine=engine),
        catalogue=PostgresCatalogue(engine=engine),
        reader=document_processes(documents),
        cutting=Cutting(count, documents),
        clock=SystemClock(),
        moderation=moderation,
    )


def document_processes(documents: DocumentSettings) -> DocumentProcesses:
    return DocumentProcesses(
        max_characters=documents.max_characters,
        max_pages=documents.max_pages,
        limit_s=documents.read_limit_s,
        at_once=documents.at_once,
    )
