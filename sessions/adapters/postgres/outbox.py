"""The outbox in Postgres."""

from collections.abc import Sequence

from sqlalchemy import insert, select
from typing_extensions import override

from sessions.adapters.postgres.tables import outbox
from sessions.adapters.postgres.transaction import Transaction
from sessions.ports import Outbox, OutboxEntry


class PostgresOutbox(Outbox):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @override
    async def add(self, entry: OutboxEntry) -> None:
        await self._transaction.of(entry.tenant).changed(
            insert(outbox).values(
                tenant_id=entry.tenant,
                kind=entry.kind,
                subject=entry.subject,
                facts=entry.facts,
                created_at=entry.at,
            )
        )

    @override
    async def pending(self, *, limit: int) -> Sequence[OutboxEntry]:
        rows = await self._transaction.of_all().all(
            select(outbox).where(outbox.c.delivered_at.is_(None)).order_by(outbox.c.id).limit(limit)
        )
        return [OutboxEntry(row.tenant_id, row.kind, row.subject, row.facts, row.created_at) for row in rows]
