"""What is in force, in Postgres: which versions of which lists, each tenant's own policy, and what a version says."""

import asyncio
import json
from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import Text, cast, select, text
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from gateway.adapters.moderation_rows import lists, policy_of, transaction, versions
from gateway.adapters.phrase_content import read
from gateway.domain.moderation.phrases import PhraseList
from gateway.domain.moderation.policy import INHERITED
from gateway.errors import PhraseListNotFound
from gateway.moderation_ports import ListDirection, ListId, LiveList, RuleSource, TenantRules
from sessions.tenant_wall import EVERY_TENANT, Side, side_of

LIMIT_S = 2.0
"""Turns may wait for it."""

# Every process asks this every second. Thousands of rows would each time hold up the turns of the process, so that the
# database looks itself whether anything is new, and then tells it in one piece.
_IN_FORCE = text("""
    with live as (select * from phrase_lists where live_version is not null),
    found as (
        select coalesce(json_agg(
            json_build_array(
                coalesce(live.tenant_id, own.tenant_id),
                live.id, live.live_version, live.scenario_id, live.direction, own.content
            ) order by live.created_at, live.id, own.tenant_id
        )::text, '[]') as said
        from live full join moderation_settings own on own.tenant_id = live.tenant_id
    )
    select md5(said) as mark, case when md5(said) <> :known then said end as said from found
""")


class PostgresRules(RuleSource):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s
        self._mark = ""
        self._everywhere: Mapping[UUID, TenantRules] = {}
        """What stood behind the mark."""

    @override
    async def everywhere(self) -> Mapping[UUID, TenantRules]:
        mark, said = await self._in_force(EVERY_TENANT, self._mark)
        if said is not None:
            self._everywhere = await asyncio.to_thread(_read, said)
            self._mark = mark
        return self._everywhere

    @override
    async def of_tenant(self, tenant: UUID) -> TenantRules:
        _, said = await self._in_force(side_of(tenant), "")
        return _read(said or "[]").get(tenant, TenantRules())

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

    async def _in_force(self, side: Side, known: str) -> tuple[str, str | None]:
        """All that stands on this side of the wall, with a mark for it; None where that is the known one."""
        async with transaction(self._engine, side, self._limit_s) as connection:
            row = (await connection.execute(_IN_FORCE, {"known": known})).one()
        return row.mark, row.said


def _read(said: str) -> Mapping[UUID, TenantRules]:
    found: dict[UUID, TenantRules] = {}
    for tenant, key, version, scenario, direction, content in json.loads(said):
        owner = UUID(tenant)
        before = found.get(owner, TenantRules())
        live = () if key is None else (_live_list(key, version, scenario, direction),)
        policy = INHERITED if content is None else policy_of(content)
        found[owner] = TenantRules((*before.lists, *live), policy)
    return found


def _live_list(key: str, version: int, scenario: str | None, direction: str) -> LiveList:
    of_scenario = None if scenario is None else UUID(scenario)
    return LiveList(ListId(UUID(key)), version, of_scenario, ListDirection(direction))
