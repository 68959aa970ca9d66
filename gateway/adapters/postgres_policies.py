"""What tenants have set about moderation, and who changed what, in Postgres."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from gateway.adapters.audit_facts import of_policy
from gateway.adapters.moderation_rows import LIMIT_S, audit, note, policy_of, settings, transaction
from gateway.domain.moderation.policy import INHERITED, OwnPolicy
from gateway.moderation_ports import AuditEntry, AuditTrail, Doer, Policies, Told, nobody
from sessions.tenant_wall import side_of


class PostgresPolicies(Policies):
    def __init__(self, *, engine: AsyncEngine, told: Told = nobody, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._told = told
        self._limit_s = limit_s

    @override
    async def of(self, tenant: UUID) -> OwnPolicy:
        wanted = select(settings.c.content).where(settings.c.tenant_id == tenant)
        async with transaction(self._engine, side_of(tenant), self._limit_s) as connection:
            content = (await connection.execute(wanted)).scalar_one_or_none()
        return INHERITED if content is None else policy_of(content)

    @override
    async def change(self, tenant: UUID, policy: OwnPolicy, by: Doer) -> None:
        changed = {"content": asdict(policy), "changed_by": by.account, "changed_at": by.at}
        writing = insert(settings).values(tenant_id=tenant, **changed)
        try:
            async with transaction(self._engine, side_of(tenant), self._limit_s) as connection:
                await connection.execute(writing.on_conflict_do_update(index_elements=["tenant_id"], set_=changed))
                await note(connection, tenant, by, "settings_changed", str(tenant), of_policy(policy))
        finally:  # a commit that was cut off may have taken effect
            await self._told(tenant)


class PostgresAuditTrail(AuditTrail):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def page(self, tenant: UUID, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        wanted = select(audit).where(audit.c.tenant_id == tenant)
        if before is not None:
            wanted = wanted.where(audit.c.id < before)
        async with transaction(self._engine, side_of(tenant), self._limit_s) as connection:
            rows = await connection.execute(wanted.order_by(audit.c.id.desc()).limit(limit))
        return [AuditEntry(row.id, row.at, row.actor, row.action, row.subject, row.facts) for row in rows]
