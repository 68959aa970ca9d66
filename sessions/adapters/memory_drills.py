"""Drills in a dictionary, with the promises of the real ones."""

from collections.abc import Sequence

from typing_extensions import override

from sessions.domain.drill import Drill, DrillId
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import TenantId
from sessions.drill_ports import Drills
from sessions.errors import DrillMoved


class MemoryDrills(Drills):
    def __init__(self) -> None:
        self._drills: dict[DrillId, Drill] = {}

    def all(self) -> Sequence[Drill]:
        """Of every tenant."""
        return tuple(self._drills.values())

    @override
    async def add(self, drill: Drill) -> None:
        self._drills[drill.id] = drill

    @override
    async def get(self, tenant: TenantId, drill: DrillId) -> Drill | None:
        found = self._drills.get(drill)
        return found if found is not None and found.tenant == tenant else None

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Drill]:
        mine = [drill for drill in self._drills.values() if drill.tenant == tenant]
        rest = sorted(
            (drill for drill in mine if after is None or (drill.created_at, drill.id) < (after.at, after.id)),
            key=lambda drill: (drill.created_at, drill.id),
            reverse=True,
        )
        shown = tuple(rest[:limit])
        return Page(shown, Cursor(shown[-1].created_at, shown[-1].id) if len(rest) > limit else None)

    @override
    async def advance(self, drill: Drill) -> None:
        stored = self._drills.get(drill.id)
        if stored is None or stored.tenant != drill.tenant or stored.version != drill.version - 1:
            raise DrillMoved(f"the drill {drill.id} is not at version {drill.version - 1}")
        self._drills[drill.id] = drill
