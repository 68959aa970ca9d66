"""A drill is changed until it is ended."""

from uuid import uuid4

import pytest

from sessions.domain.drill import DrillEvent, DrillState
from sessions.domain.scenario import ScenarioId
from sessions.errors import DrillNotFound, IllegalTransition, ScenarioNotFound
from tests.support.drill_world import plan
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_a_changed_drill_is_the_next_version() -> None:
    stage = await staged()
    drill = await stage.use.create_drill(stage.author, plan(scenario=stage.scenario.id))
    wanted = plan(scenario=stage.scenario.id, seats=3)
    changed = await stage.use.change_drill(stage.author, drill.id, wanted)
    assert (changed.version, changed.plan) == (2, wanted)
    assert await stage.use.read_drill(stage.author, drill.id) == changed


async def test_what_is_not_there_is_not_changed() -> None:
    stage = await staged()
    drill = await stage.use.create_drill(stage.author, plan(scenario=stage.scenario.id))
    with pytest.raises(ScenarioNotFound):
        await stage.use.change_drill(stage.author, drill.id, plan(scenario=ScenarioId(uuid4())))
    stranger = viewer(sees_all=True)
    with pytest.raises(DrillNotFound):
        await stage.use.change_drill(stranger, drill.id, drill.plan)
    with pytest.raises(DrillNotFound):
        await stage.use.end_drill(stranger, drill.id, DrillEvent.CANCEL)
    assert await stage.use.read_drill(stage.author, drill.id) == drill


async def test_a_drill_is_ended_once_and_changes_no_more() -> None:
    stage = await staged()
    drill = await stage.use.create_drill(stage.author, plan(scenario=stage.scenario.id))
    for _ in range(2):
        cancelled = await stage.use.end_drill(stage.author, drill.id, DrillEvent.CANCEL)
        assert (cancelled.state, cancelled.version) == (DrillState.CANCELLED, 2)
    with pytest.raises(IllegalTransition):
        await stage.use.change_drill(stage.author, drill.id, drill.plan)
    assert (await stage.use.end_drill(stage.author, drill.id, DrillEvent.ARCHIVE)).version == 3
    with pytest.raises(IllegalTransition):
        await stage.use.end_drill(stage.author, drill.id, DrillEvent.CANCEL)
