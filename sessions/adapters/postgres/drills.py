"""Drills in Postgres: the version column guards every change."""

from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.paging import page, paged
from sessions.adapters.postgres.tables import drills
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.domain.drill import Drill, DrillId, DrillPlan, DrillState
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import TenantId
from sessions.drill_ports import Drills
from sessions.errors import DrillMoved


class PostgresDrills(Drills):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def add(self, drill: Drill) -> None:
        row = {
            "id": drill.id,
            "tenant_id": drill.tenant,
            "created_by": drill.created_by,
            "created_at": drill.created_at,
            **_changing(drill),
        }
        async with begun(self._engine, of=drill.tenant, limit_s=self._limit_s) as running:
            await running.changed(insert(drills).values(row))

    @override
    async def get(self, tenant: TenantId, drill: DrillId) -> Drill | None:
        wanted = select(drills).where(drills.c.tenant_id == tenant, drills.c.id == drill)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            row = await running.one(wanted)
        return None if row is None else _drill(row)

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Drill]:
        mine = select(drills).where(drills.c.tenant_id == tenant)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            rows = await running.all(paged(mine, drills.c.created_at, drills.c.id, limit=limit, after=after))
        return page(rows, limit, item=_drill, place="created_at")

    @override
    async def advance(self, drill: Drill) -> None:
        moving = (
            update(drills)
            .where(drills.c.tenant_id == drill.tenant, drills.c.id == drill.id, drills.c.version == drill.version - 1)
            .values(_changing(drill))
        )
        async with begun(self._engine, of=drill.tenant, limit_s=self._limit_s) as running:
            if not await running.changed(moving):
                raise DrillMoved(f"the drill {drill.id} is not at version {drill.version - 1}")


def _changing(drill: Drill) -> dict[str, object]:
    plan = drill.plan
    return {
        "name": plan.name,
        "scenario_id": plan.scenario,
        "starts_at": plan.starts_at,
        "ends_at": plan.ends_at,
        "expected_trainees": plan.expected_trainees,
        "seats": plan.seats,
        "walk_ins": plan.walk_ins,
        "turns_in_flight": plan.turns_in_flight,
        "state": drill.state,
        "version": drill.version,
    }


def _drill(row: Row[Any]) -> Drill:
    return Drill(
        id=row.id,
        tenant=row.tenant_id,
        plan=DrillPlan(
            name=row.name,
            scenario=row.scenario_id,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            expected_trainees=row.expected_trainees,
            seats=row.seats,
            walk_ins=row.walk_ins,
            turns_in_flight=row.turns_in_flight,
        ),
        created_by=row.created_by,
        created_at=row.created_at,
        state=DrillState(row.state),
        version=row.version,
    )
