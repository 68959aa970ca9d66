"""What writes accounts, keys and scenarios without serving anything."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.ports import Accounts, Keys
from gateway.settings import Settings
from gateway.wiring.clock import SystemClock
from gateway.wiring.postgres import database
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.ports import Clock, TokenCounter
from sessions.prompt_writer import PromptWriter
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
    clock, writer = SystemClock(), prompt_writer(settings, ModelTokenizer(folder=settings.model.folder))
    async with database(str(settings.database_url)) as engine:
        accounts, records = PostgresAccounts(engine=engine), PostgresRecords(engine=engine)
        yield Authoring(
            accounts=accounts,
            keys=accounts,
            clock=clock,
            create_scenario=CreateScenario(records=records, writer=writer, clock=clock),
            list_scenarios=ListScenarios(records=records),
        )


def prompt_writer(settings: Settings, counter: TokenCounter) -> PromptWriter:
    shares = settings.sessions.shares(settings.model.window_tokens)
    return PromptWriter(model=settings.model.name, counter=counter, shares=shares, marks=settings.sessions.marks)
