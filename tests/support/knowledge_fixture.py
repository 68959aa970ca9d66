"""Knowledge in memory and on Postgres, with both tenants' people and a base each in it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.knowledge_catalogue import PostgresCatalogue
from sessions.adapters.postgres.knowledge_library import PostgresLibrary
from sessions.adapters.postgres.knowledge_shelf import PostgresShelf
from sessions.knowledge_ports import Catalogue, Library, Shelf
from tests.support.knowledge_world import knowledge_base
from tests.support.records_world import ELSEWHERE, settle


@dataclass(frozen=True, slots=True)
class Knowledge:
    library: Library
    catalogue: Catalogue
    shelf: Shelf


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def knowledge(request: pytest.FixtureRequest) -> AsyncIterator[Knowledge]:
    if request.param == "memory":
        memory = MemoryKnowledge()
        await write_bases(memory)
        yield Knowledge(memory, memory, memory)
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    made = Knowledge(PostgresLibrary(engine=engine), PostgresCatalogue(engine=engine), PostgresShelf(engine=engine))
    await write_bases(made.library)
    yield made
    await engine.dispose()


async def write_bases(library: Library) -> None:
    """Both are called `products`."""
    await library.add_base(knowledge_base())
    await library.add_base(knowledge_base(people=ELSEWHERE))
