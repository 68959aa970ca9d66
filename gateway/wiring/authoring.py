"""What writes accounts, keys and scenarios without serving anything."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.ports import Accounts, Keys
from gateway.settings import Settings
from gateway.wiring.clock import SystemClock
from gateway.wiring.models import model_counters, model_tiers, prompt_writers
from gateway.wiring.moderation import moderating
from gateway.wiring.postgres import database
from router.domain.fleet import Fleet
from sessions.adapters.postgres.knowledge_catalogue import PostgresCatalogue
from sessions.adapters.postgres.records import PostgresRecords
from sessions.ports import Clock
from sessions.use_cases.check_scenario import CheckScenario
from sessions.use_cases.create_scenario import CreateScenario
from sessions.use_cases.read_scenario import ListScenarios


@dataclass(frozen=True, slots=True)
class Administration:
    """What operators need to hand out keys."""

    accounts: Accounts
    keys: Keys
    clock: Clock


@asynccontextmanager
async def administration(database_url: str) -> AsyncIterator[Administration]:
    async with database(database_url) as engine:
        accounts = PostgresAccounts(engine=engine)
        yield Administration(accounts=accounts, keys=accounts, clock=SystemClock())


@dataclass(frozen=True, slots=True)
class Authoring:
    """What is needed to fill an installation."""

    accounts: Accounts
    keys: Keys
    clock: Clock
    create_scenario: CreateScenario
    list_scenarios: ListScenarios


@asynccontextmanager
async def authoring(settings: Settings) -> AsyncIterator[Authoring]:
    """Raises `TokenizerUnusable`."""
    clock, writers = SystemClock(), prompt_writers(settings, model_counters(settings))
    async with database(str(settings.database_url)) as engine, moderating(settings, engine) as moderated:
        accounts, records = PostgresAccounts(engine=engine), PostgresRecords(engine=engine)
        check = CheckScenario(
            writers=writers,
            tiers=model_tiers(settings, engine, fleet=Fleet),
            catalogue=PostgresCatalogue(engine=engine),
            moderation=moderated.desk,
        )
        yield Authoring(
            accounts=accounts,
            keys=accounts,
            clock=clock,
            create_scenario=CreateScenario(records=records, check=check, clock=clock),
            list_scenarios=ListScenarios(records=records),
        )
