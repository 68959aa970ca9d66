"""A reply is checked against the outline where there is one."""

from collections.abc import Sequence

import pytest
from typing_extensions import override

from sessions.domain.moderation import NOTHING_FOUND, Verdict
from sessions.domain.outline import NO_OUTLINE, Outline, Point
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId
from sessions.moderation_ports import Moderation, Rules
from sessions.use_cases.check_outline import outline_judgement
from tests.support.moderated import moderation

OUTLINE = Outline((Point("price", ("our price", "报价")),), (Point("promise", ("guaranteed returns",)),))


class NeverAsked(Moderation):
    @override
    async def rules(self, tenant: TenantId, scenario: ScenarioId | None = None) -> Rules:
        raise AssertionError

    @override
    async def points_made(self, points: Sequence[tuple[str, Sequence[str]]], text: str) -> tuple[str, ...]:
        raise AssertionError


@pytest.mark.parametrize(("outline", "reply"), [(NO_OUTLINE, "our price"), (OUTLINE, "")])
async def test_where_there_is_nothing_to_check_nobody_is_asked(outline: Outline, reply: str) -> None:
    assert await outline_judgement(NeverAsked(), outline, reply) == NOTHING_FOUND


async def test_points_and_forbidden_ones_are_told() -> None:
    found = await outline_judgement(moderation(), OUTLINE, "OUR PRICE has guaranteed  returns")
    assert found.points == ("price", "promise")
    assert [mark.rule for mark in found.marks] == ["promise"]
    assert found.verdict is Verdict.FLAG


async def test_a_reply_without_points_is_nothing() -> None:
    assert await outline_judgement(moderation(), OUTLINE, "Good morning") == NOTHING_FOUND
