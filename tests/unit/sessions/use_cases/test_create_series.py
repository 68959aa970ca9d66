"""A series is written with all its classes, or not at all."""

from dataclasses import replace

import pytest

from sessions.adapters.memory_drill_book import MemoryDrillBook
from sessions.adapters.memory_drills import MemoryDrills
from sessions.domain.series import Rhythm, SeriesPlan
from sessions.errors import DrillInvalid, ScenarioNotFound
from sessions.use_cases.create_series import CreateSeries
from tests.support.drill_world import plan
from tests.support.session_fakes import viewer
from tests.support.stage import staged

WEEKLY = Rhythm("0 9 * * MON", "Europe/Berlin", 45)


async def test_a_series_is_its_classes_each_a_drill_of_its_own() -> None:
    stage, book = await staged(), MemoryDrillBook(MemoryDrills())
    create = CreateSeries(records=stage.records, book=book, clock=stage.clock)
    series, drills = await create(stage.author, SeriesPlan(WEEKLY, plan(scenario=stage.scenario.id), count=3))
    assert await book.series(stage.author.tenant, series.id) == (series, drills)
    assert (series.rhythm, series.created_by) == (WEEKLY, stage.author.account)
    assert [series.first_at, series.last_at] == [drills[0].plan.starts_at, drills[2].plan.starts_at]
    assert {drill.series for drill in drills} == {series.id}
    assert len({drill.id for drill in drills}) == 3


async def test_what_cannot_be_held_is_not_written() -> None:
    stage, drills = await staged(), MemoryDrills()
    create = CreateSeries(records=stage.records, book=MemoryDrillBook(drills), clock=stage.clock)
    good = SeriesPlan(WEEKLY, plan(scenario=stage.scenario.id), count=3)
    for wrong, field in ((replace(good, count=0), "count"), (replace(good, like=replace(good.like, name=" ")), "name")):
        with pytest.raises(DrillInvalid) as refused:
            await create(stage.author, wrong)
        assert refused.value.field == field
    with pytest.raises(ScenarioNotFound):
        await create(viewer(sees_all=True), good)
    assert drills.all() == ()
