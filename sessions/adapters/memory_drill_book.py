"""Many drills at once on the dictionary of the others, with the promises of the real book."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from typing_extensions import override

from sessions.adapters.memory_drills import MemoryDrills
from sessions.domain.drill import Drill, DrillState, SeriesId
from sessions.domain.page import Cursor, Page
from sessions.domain.series import Series
from sessions.domain.viewer import TenantId
from sessions.drill_ports import DrillBook
from sessions.errors import DrillMoved


class MemoryDrillBook(DrillBook):
    def __init__(self, drills: MemoryDrills) -> None:
        self._drills = drills
        self._series: dict[SeriesId, Series] = {}

    @override
    async def write(
        self, tenant: TenantId, *, added: Sequence[Drill] = (), advanced: Sequence[Drill] = (), of: Series | None = None
    ) -> None:
        keys = [drill.import_key for drill in added if drill.import_key is not None]
        if len(set(keys)) != len(keys) or await self.imported(tenant, keys):
            raise DrillMoved("somebody else has imported one of these drills")
        for drill in advanced:
            stored = await self._drills.get(tenant, drill.id)
            if stored is None or stored.version != drill.version - 1:
                raise DrillMoved("somebody else has changed one of these drills")
        if of is not None:
            self._series[of.id] = of
        for drill in (*advanced, *added):
            await self._drills.add(drill)

    @override
    async def series(self, tenant: TenantId, series: SeriesId) -> tuple[Series, Sequence[Drill]] | None:
        found = self._series.get(series)
        if found is None or found.tenant != tenant:
            return None
        return found, [drill for drill in self._of(tenant) if drill.series == series]

    @override
    async def imported(self, tenant: TenantId, keys: Sequence[str]) -> Sequence[Drill]:
        return [drill for drill in self._of(tenant) if drill.import_key in set(keys)]

    @override
    async def to_come(self, tenant: TenantId, prefix: str, *, after: datetime) -> Sequence[Drill]:
        return [
            drill
            for drill in self._of(tenant)
            if (drill.import_key or "").startswith(prefix)
            and drill.state is DrillState.SCHEDULED
            and drill.plan.starts_at > after
        ]

    @override
    async def held(
        self, tenant: TenantId, since: datetime, until: datetime, *, limit: int, after: Cursor | None = None
    ) -> Page[Drill]:
        rest = [
            drill
            for drill in self._of(tenant)
            if drill.plan.ends_at >= since
            and drill.plan.starts_at <= until
            and (after is None or _place(drill) > (after.at, after.id))
        ]
        shown = tuple(rest[:limit])
        return Page(shown, Cursor(*_place(shown[-1])) if len(rest) > limit else None)

    def _of(self, tenant: TenantId) -> Sequence[Drill]:
        return sorted((drill for drill in self._drills.all() if drill.tenant == tenant), key=_place)


def _place(drill: Drill) -> tuple[datetime, UUID]:
    return drill.plan.starts_at, drill.id
