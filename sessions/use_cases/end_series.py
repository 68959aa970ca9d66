"""Read a series of classes, or cancel those that are still to come."""

from collections.abc import Sequence

from sessions.domain.drill import Drill, DrillEvent, DrillState, SeriesId, ended
from sessions.domain.series import Series
from sessions.domain.viewer import Viewer
from sessions.drill_ports import DrillBook
from sessions.errors import SeriesNotFound
from sessions.ports import Clock


class ReadSeries:
    def __init__(self, *, book: DrillBook) -> None:
        self._book = book

    async def __call__(self, viewer: Viewer, series: SeriesId) -> tuple[Series, Sequence[Drill]]:
        """Raises `SeriesNotFound`."""
        found = await self._book.series(viewer.tenant, series)
        if found is None:
            raise SeriesNotFound("there is no such series of drills")
        return found


class CancelSeries:
    def __init__(self, *, book: DrillBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock

    async def __call__(self, author: Viewer, series: SeriesId) -> tuple[Series, Sequence[Drill]]:
        """Cancel the classes that have not begun; twice is nothing. Raises `SeriesNotFound` or `DrillMoved`."""
        found, drills = await ReadSeries(book=self._book)(author, series)
        now = self._clock.now()
        off = {
            drill.id: ended(drill, DrillEvent.CANCEL)
            for drill in drills
            if drill.state is DrillState.SCHEDULED and drill.plan.starts_at > now
        }
        if off:
            await self._book.write(author.tenant, advanced=list(off.values()))
        return found, [off.get(drill.id, drill) for drill in drills]
