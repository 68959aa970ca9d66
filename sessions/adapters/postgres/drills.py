"""Drills in Postgres: the version column guards every change."""

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.drill_rows import changing, drill_of, row_of
from sessions.adapters.postgres.paging import page, paged
from sessions.adapters.postgres.tables import drills
from sessions.adapters.postgres.transaction import LIMIT_S, begun
from sessions.domain.drill import Drill, DrillId
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
        async with begun(self._engine, of=drill.tenant, limit_s=self._limit_s) as running:
            await running.changed(insert(drills).values(row_of(drill)))

    @override
    async def get(self, tenant: TenantId, drill: DrillId) -> Drill | None:
        wanted = select(drills).where(drills.c.tenant_id == tenant, drills.c.id == drill)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            row = await running.one(wanted)
        return None if row is None else drill_of(row)

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Drill]:
        mine = select(drills).where(drills.c.tenant_id == tenant)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            rows = await running.all(paged(mine, drills.c.created_at, drills.c.id, limit=limit, after=after))
        return page(rows, limit, item=drill_of, place="created_at")

    @override
    async def advance(self, drill: Drill) -> None:
        moving = (
            update(drills)
            .where(drills.c.tenant_id == drill.tenant, drills.c.id == drill.id, drills.c.version == drill.version - 1)
            .values(changing(drill))
        )
        async with begun(self._engine, of=drill.tenant, limit_s=self._limit_s) as running:
            if not await running.changed(moving):
                raise DrillMoved(f"the drill {drill.id} is not at version {drill.version - 1}")
