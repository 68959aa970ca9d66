"""What is in force, in Postgres: which versions of which lists, each tenant's own policy, and what a version says."""

import asyncio
from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import Text, cast, func, select
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from gateway.adapters.moderation_rows import lists, policy_of, settings, transaction, versions
from gateway.adapters.phrase_content import read
from gateway.domain.moderation.phrases import PhraseList
from gateway.domain.moderation.policy import INHERITED
from gateway.errors import PhraseListNotFound
from gateway.moderation_ports import ListDirection, ListId, LiveList, RuleSource, TenantRules
from sessions.tenant_wall import EVERY_TENANT, Side, side_of

LIMIT_S = 2.0
"""Turns may wait for it."""


class PostgresRules(RuleSource):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def everywhere(self) -> Mapping[UUID, TenantRules]:
        return await self._in_force(EVERY_TENANT)

    @override
    async def of_tenant(self, tenant: UUID) -> TenantRules:
        return (await self._in_force(side_of(tenant))).get(tenant, TenantRules())

    @override
    async def phrases(self, tenant: UUID, found: LiveList) -> PhraseList:
        wanted = (
            select(lists.c.name, cast(versions.c.content, Text).label("content"))
            .join_from(versions, lists, lists.c.id == versions.c.list_id)
            .where(
                versions.c.tenant_id == tenant, versions.c.list_id == found.list, versions.c.version == found.version
            )
        )
        async with transaction(self._engine, side_of(tenant), self._limit_s) as connection:
            row = (await connection.execute(wanted)).one_or_none()
        if row is None:
            raise PhraseListNotFound
        return await asyncio.to_thread(read, row.content, name=row.name, version=found.version)

    async def _in_force(self, side: Side) -> Mapping[UUID, TenantRules]:
        """All that stands on this side of the wall."""
        live = select(lists).where(lists.c.live_version.is_not(None)).subquery()
        wanted = (
            select(func.coalesce(live.c.tenant_id, settings.c.tenant_id).label("tenant"), live, settings.c.content)
            .join_from(live, settings, live.c.tenant_id == settings.c.tenant_id, full=True)
            .order_by(live.c.created_at, live.c.id)
        )
        async with transaction(self._engine, side, self._limit_s) as connection:
            rows = (await connection.execute(wanted)).all()
        found: dict[UUID, list[LiveList]] = {}
        policies = {}
        for row in rows:
            kept = found.setdefault(row.tenant, [])
            if row.id is not None:
                direction = ListDirection(row.direction)
                kept.append(LiveList(ListId(row.id), row.live_version, row.scenario_id, direction))
            policies[row.tenant] = INHERITED if row.content is None else policy_of(row.content)
        return {tenant: TenantRules(tuple(kept), policies[tenant]) for tenant, kept in found.items()}
