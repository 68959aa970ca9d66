"""The classes of all tenants, out of Postgres."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import FromClause, Row, select
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.drill_rows import drill_of
from sessions.adapters.postgres.tables import drills, scenario_versions, scenarios, tenants
from sessions.adapters.postgres.tenant_tiers import tiers_of
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.domain.class_calendar import TimedClass, Wishes
from sessions.domain.drill import DrillState
from sessions.domain.scenario import ScenarioId
from sessions.domain.tiers import Tier
from sessions.domain.viewer import TenantId
from sessions.drill_ports import ClassCalendar
from sessions.tenant_wall import EVERY_TENANT

MOST_CLASSES = 20_000

_WISHES = (
    scenario_versions.c.content["tiers"].label("scenario_tiers"),
    scenario_versions.c.content["is_sensitive"].label("is_sensitive"),
    tenants.c.tiers.label("tenant_tiers"),
)


class PostgresClassCalendar(ClassCalendar):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def between(self, since: datetime, until: datetime) -> Sequence[TimedClass]:
        drill_of_scenario = (drills.c.tenant_id == scenarios.c.tenant_id) & (drills.c.scenario_id == scenarios.c.id)
        touching = (
            select(drills, *_WISHES)
            .select_from(_latest_versions().join(drills, drill_of_scenario))
            .where(drills.c.ends_at >= since, drills.c.starts_at <= until)
            .order_by(drills.c.state != DrillState.SCHEDULED, drills.c.starts_at, drills.c.id)
            .limit(MOST_CLASSES)
        )
        async with begun(self._engine, side=EVERY_TENANT, limit_s=self._limit_s) as running:
            found = [_timed(row) async for part in running.parts(touching) for row in part]
        return sorted(found, key=lambda one: (one.drill.plan.starts_at, one.drill.id))

    @override
    async def wishes(self, tenant: TenantId, of: Sequence[ScenarioId]) -> Mapping[ScenarioId, Wishes]:
        wanted = (
            select(scenarios.c.id, *_WISHES)
            .select_from(_latest_versions())
            .where(scenarios.c.tenant_id == tenant, scenarios.c.id.in_(of))
        )
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            rows = await running.all(wanted)
        return {row.id: _wishes(row) for row in rows}


def _latest_versions() -> FromClause:
    newest = (
        (scenario_versions.c.tenant_id == scenarios.c.tenant_id)
        & (scenario_versions.c.scenario_id == scenarios.c.id)
        & (scenario_versions.c.version == scenarios.c.latest_version)
    )
    return scenarios.join(scenario_versions, newest).join(tenants, tenants.c.id == scenarios.c.tenant_id)


def _timed(row: Row[Any]) -> TimedClass:
    return TimedClass(drill_of(row), _wishes(row))


def _wishes(row: Row[Any]) -> Wishes:
    return Wishes(
        tier=Tier.SENSITIVE if row.is_sensitive else Tier.ROLE_PLAY,
        scenario=tiers_of(dict(row.scenario_tiers or ())),
        tenant=tiers_of(row.tenant_tiers),
    )
