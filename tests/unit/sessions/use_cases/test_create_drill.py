"""Drills are checked before they are written."""

from dataclasses import replace

import pytest

from sessions.errors import DrillInvalid, ScenarioNotFound
from tests.support.drill_world import plan
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_a_new_drill_is_read_by_everybody_of_its_tenant() -> None:
    stage = await staged()
    drill = await stage.use.create_drill(stage.author, plan(scenario=stage.scenario.id))
    assert (drill.version, drill.created_by) == (1, stage.author.account)
    assert await stage.use.read_drill(stage.trainee, drill.id) == drill
    assert (await stage.use.list_drills(stage.trainee, 10)).items == (drill,)


async def test_a_drill_that_cannot_be_held_is_not_written() -> None:
    stage = await staged()
    wanted = plan(scenario=stage.scenario.id)
    with pytest.raises(DrillInvalid):
        await stage.use.create_drill(stage.author, replace(wanted, name=""))
    with pytest.raises(ScenarioNotFound):
        await stage.use.create_drill(viewer(sees_all=True), wanted)
    assert (await stage.use.list_drills(stage.author, 10)).items == ()
