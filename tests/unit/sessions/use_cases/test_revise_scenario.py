"""A new version leaves the sessions of the old one alone."""

from dataclasses import replace

import pytest

from sessions.errors import ScenarioNotFound
from sessions.use_cases.start_session import SessionOrder
from tests.support.session_fakes import content, viewer
from tests.support.stage import staged


async def test_a_running_session_keeps_its_version_and_a_new_one_takes_the_latest() -> None:
    stage = await staged()
    revised = await stage.use.revise_scenario(stage.author, stage.scenario.id, content(persona="You are a buyer."))
    assert revised.version == 2
    await stage.play()
    assert "You are a customer." in stage.tutor.requests[-1].messages[0].content
    later = await stage.use.start_session(SessionOrder(stage.trainee, stage.scenario.id, {}))
    assert later.scenario_version == 2
    first = await stage.use.read_scenario(stage.author, stage.scenario.id, 1)
    assert first == replace(stage.scenario, latest_version=2)


async def test_a_foreign_scenario_cannot_be_revised() -> None:
    stage = await staged()
    with pytest.raises(ScenarioNotFound):
        await stage.use.revise_scenario(viewer(sees_all=True), stage.scenario.id, content())
