"""The stores of moderation, in memory and on Postgres, with both tenants and a scenario each in them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.memory_moderation import (
    MemoryAuditTrail,
    MemoryPhraseLists,
    MemoryPolicies,
    MemoryRules,
    ModerationBook,
)
from gateway.adapters.postgres_phrase_lists import PostgresPhraseLists
from gateway.adapters.postgres_policies import PostgresAuditTrail, PostgresPolicies
from gateway.adapters.postgres_rules import PostgresRules
from gateway.domain.moderation.phrases import Phrase, PhraseList
from gateway.moderation_ports import (
    AuditTrail,
    Doer,
    KeptList,
    ListDirection,
    ListId,
    PhraseLists,
    Policies,
    RuleSource,
    Told,
    nobody,
)
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from tests.support.records_fixture import write_scenarios
from tests.support.records_world import ELSEWHERE, HERE, NOON, People, scenario, settle, uuid_of

INSTRUCTOR = Doer(HERE.instructor, NOON)
SCENARIO = scenario().id


@dataclass(slots=True)
class Stores:
    lists: PhraseLists
    policies: Policies
    trail: AuditTrail
    rules: RuleSource
    heard: list[UUID] = field(default_factory=list)
    """Whose rules were told to have changed."""


def moderation_book(told: Told = nobody) -> ModerationBook:
    theirs = scenario("renewal elsewhere").id
    return ModerationBook(scenarios={(HERE.tenant, SCENARIO), (ELSEWHERE.tenant, theirs)}, told=told)


def stores_on(book: ModerationBook) -> Stores:
    return Stores(MemoryPhraseLists(book), MemoryPolicies(book), MemoryAuditTrail(book), MemoryRules(book))


def memory_stores(told: Told = nobody) -> Stores:
    return stores_on(moderation_book(told))


def postgres_stores(engine: AsyncEngine, told: Told = nobody) -> Stores:
    return Stores(
        PostgresPhraseLists(engine=engine, told=told),
        PostgresPolicies(engine=engine, told=told),
        PostgresAuditTrail(engine=engine),
        PostgresRules(engine=engine),
    )


async def people_and_scenarios(engine: AsyncEngine) -> None:
    await settle(engine)
    await write_scenarios(PostgresRecords(engine=engine))


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def stores(request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    heard: list[UUID] = []

    async def told(tenant: UUID) -> None:
        heard.append(tenant)

    if request.param == "memory":
        made = memory_stores(told)
        made.heard = heard
        yield made
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await people_and_scenarios(engine)
    made = postgres_stores(engine, told)
    made.heard = heard
    yield made
    await engine.dispose()


def kept_list(
    name: str = "banned",
    people: People = HERE,
    *,
    live: bool = False,
    of_scenario: UUID | None = None,
    direction: ListDirection = ListDirection.BOTH,
    minutes: int = 0,
) -> KeptList:
    """A list that is not written yet."""
    return KeptList(
        id=ListId(uuid_of(f"{name} of {people.tenant}")),
        tenant=people.tenant,
        name=name,
        scenario=of_scenario,
        direction=direction,
        live_version=1 if live else None,
        latest_version=1,
        created_by=people.instructor,
        created_at=NOON + timedelta(minutes=minutes),
    )


def says(*texts: str, allowed: tuple[str, ...] = ()) -> PhraseList:
    """What a list says, whose name and version are not known yet."""
    return PhraseList("", 0, tuple(Phrase(f"r{n}", text, "test") for n, text in enumerate(texts)), allowed)
