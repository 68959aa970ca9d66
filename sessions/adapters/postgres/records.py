"""The records in Postgres: one use case is one transaction, and only `begin` commits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.notes import PostgresNotes
from sessions.adapters.postgres.outbox import PostgresOutbox
from sessions.adapters.postgres.scenarios import PostgresScenarios
from sessions.adapters.postgres.sessions import PostgresSessions
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.adapters.postgres.turns import PostgresTurns
from sessions.adapters.postgres.withheld_texts import PostgresWithheldTexts
from sessions.domain.viewer import TenantId
from sessions.ports import Records, UnitOfWork


class PostgresRecords(Records):
    """A transaction that takes longer than `limit_s` is given up."""

    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

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
