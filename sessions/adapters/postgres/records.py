"""The records in Postgres: one use case is one transaction, and only `begin` commits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.notes import PostgresNotes
from sessions.adapters.postgres.outbox import PostgresOutbox
from sessions.adapters.postgres.scenarios import PostgresScenarios
from sessions.adapters.postgres.sessions import PostgresSessions
from sessions.adapters.postgres.transaction import LIMIT_S, Transaction, begun
from sessions.adapters.postgres.turns import PostgresTurns
from sessions.domain.viewer import TenantId
from sessions.ports import Records, UnitOfWork


class PostgresUnitOfWork(UnitOfWork):
    def __init__(self, transaction: Transaction) -> None:
        self._scenarios = PostgresScenarios(transaction)
        self._sessions = PostgresSessions(transaction)
        self._turns = PostgresTurns(transaction)
        self._notes = PostgresNotes(transaction)
        self._outbox = PostgresOutbox(transaction)

    @property
    @override
    def scenarios(self) -> PostgresScenarios:
        return self._scenarios

    @property
    @override
    def sessions(self) -> PostgresSessions:
        return self._sessions

    @property
    @override
    def turns(self) -> PostgresTurns:
        return self._turns

    @property
    @override
    def notes(self) -> PostgresNotes:
        return self._notes

    @property
    @override
    def outbox(self) -> PostgresOutbox:
        return self._outbox


class PostgresRecords(Records):
    """A transaction that takes longer than `limit_s` is given up."""

    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    @asynccontextmanager
    async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as transaction:
            yield PostgresUnitOfWork(transaction)
