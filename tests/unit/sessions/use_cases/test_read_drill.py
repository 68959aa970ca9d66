"""A foreign drill is not there."""

import pytest

from sessions.errors import DrillNotFound
from tests.support.drill_world import plan
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_a_drill_of_another_tenant_is_neither_read_nor_listed() -> None:
    stage = await staged()
    drill = await stage.use.create_drill(stage.author, plan(scenario=stage.scenario.id))
    stranger = viewer(sees_all=True)
    with pytest.raises(DrillNotFound):
        await stage.use.read_drill(stranger, drill.id)
    assert (await stage.use.list_drills(stranger, 10)).items == ()
