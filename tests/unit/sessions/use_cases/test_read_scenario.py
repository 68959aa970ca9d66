"""Scenarios are seen inside their tenant only."""

import pytest

from sessions.errors import ScenarioNotFound
from tests.support.session_fakes import content, viewer
from tests.support.stage import staged


async def test_a_foreign_tenant_and_a_missing_version_find_nothing() -> None:
    stage = await staged()
    foreign = viewer(sees_all=True)
    with pytest.raises(ScenarioNotFound):
        await stage.use.read_scenario(foreign, stage.scenario.id)
    with pytest.raises(ScenarioNotFound):
        await stage.use.read_scenario(stage.author, stage.scenario.id, 2)
    assert (await stage.use.list_scenarios(foreign, 10)).items == ()


async def test_a_long_list_comes_in_pages_without_gap_or_overlap() -> None:
    stage = await staged()
    made = [stage.scenario, *[await stage.use.create_scenario(stage.author, content()) for _ in range(4)]]
    first = await stage.use.list_scenarios(stage.author, 3)
    rest = await stage.use.list_scenarios(stage.author, 3, first.next)
    assert [*first.items, *rest.items] == made[::-1]
    assert rest.next is None
