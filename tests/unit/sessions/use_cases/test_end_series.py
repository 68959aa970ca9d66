"""The classes of a series that are still to come are cancelled together."""

from datetime import timedelta
from uuid import uuid4

import pytest

from sessions.adapters.memory_drill_book import MemoryDrillBook
from sessions.adapters.memory_drills import MemoryDrills
from sessions.domain.drill import DrillEvent, DrillState, SeriesId, changed, ended
from sessions.domain.series import Rhythm, SeriesPlan
from sessions.errors import SeriesNotFound
from sessions.use_cases.create_series import CreateSeries
from sessions.use_cases.end_series import CancelSeries, ReadSeries
from tests.support.drill_world import plan
from tests.support.session_fakes import FakeClock, viewer
from tests.support.stage import staged


async def test_only_those_that_have_not_begun_are_cancelled() -> None:
    stage, all_drills = await staged(), MemoryDrills()
    book = MemoryDrillBook(all_drills)
    create = CreateSeries(records=stage.records, book=book, clock=stage.clock)
    daily = SeriesPlan(Rhythm("0 9 * * *", "UTC", 45), plan(scenario=stage.scenario.id), count=4)
    series, drills = await create(stage.author, daily)
    over, off, moved, last = drills
    begun = (stage.clock.now() - timedelta(minutes=1), stage.clock.now() + timedelta(minutes=9))
    over = changed(over, plan(scenario=stage.scenario.id, starts_at=begun[0], ends_at=begun[1]))
    off = ended(off, DrillEvent.CANCEL)
    moved = changed(moved, plan(scenario=stage.scenario.id, starts_at=begun[1], ends_at=begun[1] + timedelta(hours=1)))
    await book.write(stage.author.tenant, advanced=[over, off, moved])

    cancel = CancelSeries(book=book, clock=stage.clock)
    _, after = await cancel(stage.author, series.id)
    versions = {drill.id: (drill.state, drill.version) for drill in after}
    assert versions == {
        over.id: (DrillState.SCHEDULED, 2),
        off.id: (DrillState.CANCELLED, 2),
        moved.id: (DrillState.CANCELLED, 3),
        last.id: (DrillState.CANCELLED, 2),
    }
    assert await cancel(stage.author, series.id) == (series, after)
    assert await ReadSeries(book=book)(stage.author, series.id) == (series, after)


async def test_a_series_of_others_is_none() -> None:
    stage, book = await staged(), MemoryDrillBook(MemoryDrills())
    create = CreateSeries(records=stage.records, book=book, clock=stage.clock)
    weekly = SeriesPlan(Rhythm("0 9 * * MON", "UTC", 45), plan(scenario=stage.scenario.id), count=1)
    series, _ = await create(stage.author, weekly)
    for who, which in ((viewer(sees_all=True), series.id), (stage.author, SeriesId(uuid4()))):
        with pytest.raises(SeriesNotFound):
            await CancelSeries(book=book, clock=FakeClock())(who, which)
