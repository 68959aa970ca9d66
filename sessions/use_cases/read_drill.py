"""Read one drill, or list them."""

from datetime import datetime

from sessions.domain.drill import Drill, DrillId
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import TenantId, Viewer
from sessions.drill_ports import DrillBook, Drills
from sessions.errors import DrillNotFound


async def known_drill(drills: Drills, tenant: TenantId, drill: DrillId) -> Drill:
    """Raises `DrillNotFound`."""
    found = await drills.get(tenant, drill)
    if found is None:
        raise DrillNotFound("there is no such drill")
    return found


class ReadDrill:
    def __init__(self, *, drills: Drills) -> None:
        self._drills = drills

    async def __call__(self, viewer: Viewer, drill: DrillId) -> Drill:
        return await known_drill(self._drills, viewer.tenant, drill)


class ListDrills:
    def __init__(self, *, drills: Drills) -> None:
        self._drills = drills

    async def __call__(self, viewer: Viewer, limit: int, after: Cursor | None = None) -> Page[Drill]:
        return await self._drills.list(viewer.tenant, limit=limit, after=after)


class ListHeldDrills:
    def __init__(self, *, book: DrillBook) -> None:
        self._book = book

    async def __call__(
        self, viewer: Viewer, since: datetime, until: datetime, *, limit: int, after: Cursor | None = None
    ) -> Page[Drill]:
        """Those that touch the span, by their start."""
        return await self._book.held(viewer.tenant, since, until, limit=limit, after=after)
