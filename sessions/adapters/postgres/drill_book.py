"""Many drills at once in Postgres: series, and what was imported."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.drill_rows import changing, drill_of, row_of
from sessions.adapters.postgres.paging import page
from sessions.adapters.postgres.tables import drill_series, drills
from sessions.adapters.postgres.transaction import LIMIT_S, Transaction, begun
from sessions.domain.drill import Drill, DrillState, SeriesId
from sessions.domain.page import Cursor, Page
from sessions.domain.series import Rhythm, Series
from sessions.domain.viewer import TenantId
from sessions.drill_ports import DrillBook
from sessions.errors import DrillMoved

_IMPORT_KEY = "drills_import_key"


class PostgresDrillBook(DrillBook):
    def __init__(self, *, engine: AsyncEngine, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def write(
        self, tenant: TenantId, *, added: Sequence[Drill] = (), advanced: Sequence[Drill] = (), of: Series | None = None
    ) -> None:
        try:
            async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
                if of is not None:
                    await running.changed(insert(drill_series).values(_series_row(of)))
                await _advance(running, tenant, advanced)
                await running.each(insert(drills), [row_of(drill) for drill in added])
        except IntegrityError as error:
            if _IMPORT_KEY not in str(error.orig):
                raise
            raise DrillMoved("somebody else has imported one of these drills") from error

    @override
    async def series(self, tenant: TenantId, series: SeriesId) -> tuple[Series, Sequence[Drill]] | None:
        wanted = select(drill_series).where(drill_series.c.tenant_id == tenant, drill_series.c.id == series)
        members = (
            select(drills)
            .where(drills.c.tenant_id == tenant, drills.c.series_id == series)
            .order_by(drills.c.starts_at, drills.c.id)
        )
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            row = await running.one(wanted)
            rows = await running.all(members) if row is not None else ()
        return None if row is None else (_series(row), [drill_of(each) for each in rows])

    @override
    async def imported(self, tenant: TenantId, keys: Sequence[str]) -> Sequence[Drill]:
        known = select(drills).where(drills.c.tenant_id == tenant, drills.c.import_key == func.any(list(keys)))
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            return [drill_of(row) async for part in running.parts(known) for row in part]

    @override
    async def to_come(self, tenant: TenantId, prefix: str, *, after: datetime) -> Sequence[Drill]:
        coming = select(drills).where(
            drills.c.tenant_id == tenant,
            drills.c.import_key.startswith(prefix, autoescape=True),
            drills.c.state == DrillState.SCHEDULED,
            drills.c.starts_at > after,
        )
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            return [drill_of(row) async for part in running.parts(coming) for row in part]

    @override
    async def held(
        self, tenant: TenantId, since: datetime, until: datetime, *, limit: int, after: Cursor | None = None
    ) -> Page[Drill]:
        touching = select(drills).where(
            drills.c.tenant_id == tenant, drills.c.ends_at >= since, drills.c.starts_at <= until
        )
        if after is not None:
            touching = touching.where(tuple_(drills.c.starts_at, drills.c.id) > tuple_(after.at, after.id))
        in_order = touching.order_by(drills.c.starts_at, drills.c.id).limit(limit + 1)
        async with begun(self._engine, of=tenant, limit_s=self._limit_s) as running:
            rows = await running.all(in_order)
        return page(rows, limit, item=drill_of, place="starts_at")


async def _advance(running: Transaction, tenant: TenantId, advanced: Sequence[Drill]) -> None:
    """Locked in one order and compared, then written."""
    wanted = {drill.id: drill.version - 1 for drill in advanced}
    stored = (
        select(drills.c.id, drills.c.version)
        .where(drills.c.tenant_id == tenant, drills.c.id.in_(wanted))
        .order_by(drills.c.id)
        .with_for_update()
    )
    if advanced and {row.id: row.version for row in await running.all(stored)} != wanted:
        raise DrillMoved("somebody else has changed one of these drills")
    rows = [{**changing(drill), "of_tenant": drill.tenant, "of_id": drill.id} for drill in advanced]
    moving = update(drills).where(drills.c.tenant_id == bindparam("of_tenant"), drills.c.id == bindparam("of_id"))
    await running.each(moving, rows)


def _series_row(series: Series) -> dict[str, object]:
    return {
        "id": series.id,
        "tenant_id": series.tenant,
        "cron": series.rhythm.cron,
        "timezone": series.rhythm.timezone,
        "minutes": series.rhythm.minutes,
        "first_at": series.first_at,
        "last_at": series.last_at,
        "created_by": series.created_by,
        "created_at": series.created_at,
    }


def _series(row: Row[Any]) -> Series:
    return Series(
        id=row.id,
        tenant=row.tenant_id,
        rhythm=Rhythm(row.cron, row.timezone, row.minutes),
        first_at=row.first_at,
        last_at=row.last_at,
        created_by=row.created_by,
        created_at=row.created_at,
    )
