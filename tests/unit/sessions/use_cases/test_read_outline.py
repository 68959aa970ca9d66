"""The report of a session's outline."""

from dataclasses import replace

import pytest

from sessions.domain.moderation import Judgement
from sessions.domain.outline import Outline, Point, PointKind, PointReport
from sessions.errors import SessionNotFound
from tests.support.records_world import turn
from tests.support.session_fakes import viewer
from tests.support.stage import staged

OUTLINE = Outline((Point("price", ("our price",)),), (Point("promise", ("guaranteed",)),))


async def test_the_report_stands_on_what_was_found_in_the_stored_turns() -> None:
    stage = await staged(outline=OUTLINE)
    async with stage.records.begin() as work:
        for number, points in ((1, ()), (2, ("price",)), (3, ("price", "promise"))):
            played = turn(number, of=stage.session)
            await work.turns.add(replace(played, moderation=Judgement(points=points)))
    report = await stage.use.read_outline(stage.author, stage.session.id)
    assert report.points == (
        PointReport(PointKind.REQUIRED, "price", (2, 3)),
        PointReport(PointKind.FORBIDDEN, "promise", (3,)),
    )
    assert not report.compliant


async def test_a_session_is_judged_by_the_version_that_it_plays() -> None:
    stage = await staged(outline=OUTLINE)
    await stage.use.revise_scenario(stage.author, stage.scenario.id, replace(stage.scenario.content, outline=Outline()))
    report = await stage.use.read_outline(stage.author, stage.session.id)
    assert [point.name for point in report.points] == ["price", "promise"]


async def test_another_tenant_sees_nothing() -> None:
    stage = await staged(outline=OUTLINE)
    with pytest.raises(SessionNotFound):
        await stage.use.read_outline(viewer(sees_all=True), stage.session.id)
