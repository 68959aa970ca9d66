"""A session goes from scene to scene between its turns."""

import pytest

from sessions.adapters.memory_turn_lock import MemoryTurnLock
from sessions.errors import SceneUnknown, SessionBusy, SessionClosed, SessionNotFound
from sessions.use_cases.change_scene import ChangeScene
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_a_change_is_told_to_the_outbox_once_and_without_names() -> None:
    stage = await staged()
    await stage.play()
    changed = await stage.use.change_scene(stage.trainee, stage.session.id, "agreement")
    again = await stage.use.change_scene(stage.trainee, stage.session.id, "agreement")
    assert changed == again
    assert (changed.scene, changed.version, changed.turn_count) == ("agreement", 3, 1)
    async with stage.records.begin() as work:
        entries = await work.outbox.pending(limit=10)
    assert [entry.kind for entry in entries] == ["session.started", "turn.completed", "session.scene"]
    assert entries[-1].facts == {"scene": 2, "turns": 1}


async def test_what_is_at_hand_of_the_row_before_is_forgotten() -> None:
    stage = await staged()
    await stage.play()
    assert await stage.outside.working_sets.latest(stage.session.id) is not None
    await stage.use.change_scene(stage.trainee, stage.session.id, "agreement")
    assert await stage.outside.working_sets.latest(stage.session.id) is None


async def test_a_scene_that_the_scenario_lacks_is_refused_with_those_it_has() -> None:
    stage = await staged()
    with pytest.raises(SceneUnknown, match=r"there are complaint, agreement$"):
        await stage.use.change_scene(stage.trainee, stage.session.id, "revenge")


async def test_a_closed_session_stays_in_its_scene() -> None:
    stage = await staged()
    await stage.use.close_session(stage.trainee, stage.session.id)
    for scene in ("complaint", "agreement"):
        with pytest.raises(SessionClosed):
            await stage.use.change_scene(stage.trainee, stage.session.id, scene)


async def test_the_scene_is_not_changed_under_a_running_turn() -> None:
    stage, lock = await staged(), MemoryTurnLock()
    change = ChangeScene(records=stage.records, lock=lock, working_sets=stage.outside.working_sets, clock=stage.clock)
    async with lock.hold(stage.session.id):
        with pytest.raises(SessionBusy):
            await change(stage.trainee, stage.session.id, "agreement")
    assert (await change(stage.trainee, stage.session.id, "agreement")).scene == "agreement"


async def test_a_stranger_changes_nothing() -> None:
    stage = await staged()
    with pytest.raises(SessionNotFound):
        await stage.use.change_scene(viewer(sees_all=True), stage.session.id, "agreement")
