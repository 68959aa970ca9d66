"""The records in Postgres: one use case is one transaction, and only `begin` commits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.notes import PostgresNotes
from sessions.adapters.postgres.outbox import PostgresOutbox
from sessions.adapters.postgres.question import Questions
from sessions.adapters.postgres.scenarios import PostgresScenarios
from sessions.adapters.postgres.sessions import PostgresSessions
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.adapters.postgres.turn_questions import add_turn, advance, find
from sessions.adapters.postgres.turns import PostgresTurns
from sessions.adapters.postgres.withheld_texts import PostgresWithheldTexts
from sessions.domain.scenario import ScenarioContent, ScenarioId
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import TenantId, Viewer
from sessions.ports import FoundSession, OutboxEntry, Records, UnitOfWork


class PostgresRecords(Records):
    """A transaction that takes longer than `limit_s` is given up."""

    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s
        self._questions = Questions(engine=engine, limit_s=limit_s)

    @override
    @asynccontextmanager
    async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as transaction:
            yield UnitOfWork(
                scenarios=PostgresScenarios(transaction),
                sessions=PostgresSessions(transaction),
                turns=PostgresTurns(transaction),
                notes=PostgresNotes(transaction),
                withheld=PostgresWithheldTexts(transaction),
                outbox=PostgresOutbox(transaction),
            )

    @override
    async def find(self, viewer: Viewer, session: SessionId, turn: int | str | None = None) -> FoundSession | None:
        return await find(self._questions, viewer, session, turn)

    @override
    async def content(self, tenant: TenantId, scenario: ScenarioId, version: int) -> ScenarioContent | None:
        async with self.begin(tenant) as work:
            found = await work.scenarios.get(tenant, scenario, version)
        return None if found is None else found.content

    @override
    async def advance(self, session: Session, entry: OutboxEntry) -> Session:
        return await advance(self._questions, session, entry)

    @override
    async def add_turn(self, session: Session, turn: Turn, entry: OutboxEntry) -> Session:
        return await add_turn(self._questions, session, turn, entry)
