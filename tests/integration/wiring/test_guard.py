"""How a guard is put behind the rules, and what readiness tells of it."""

from collections.abc import AsyncIterator

import pytest

from gateway.guard_settings import GuardSettings
from gateway.services import Readiness
from gateway.wiring.guard import guarding
from tests.support.eventually import eventually
from tests.support.guard_double import GuardDouble, guard_double
from tests.support.moderated import moderation


@pytest.fixture
async def double() -> AsyncIterator[GuardDouble]:
    async with guard_double() as running:
        yield running


def settings(double: GuardDouble, **given: object) -> GuardSettings:
    return GuardSettings.model_validate({"url": double.url, "model": "guard", "pause_s": 0.05, **given})


async def test_without_a_guard_nothing_is_told_of_one() -> None:
    async with guarding(GuardSettings()) as none:
        desk = moderation()
        assert none.behind(desk) is desk
        assert (none.gauges(), none.counters(), none.checks()) == ({}, {}, {})


@pytest.mark.parametrize("when_away", ["open", "closed"])
async def test_readiness_needs_a_guard_only_where_nothing_passes_without_it(
    double: GuardDouble, when_away: str
) -> None:
    double.fault = "500"
    async with guarding(settings(double, when_away=when_away)) as guard:
        await eventually(lambda: guard.gauges()["guard_away"] == 1.0)
        found = Readiness(guard.checks())
        assert not found.checks["guard"].ok
        assert found.ready is (when_away == "open")
        double.fault = ""
        await eventually(lambda: guard.gauges()["guard_away"] == 0.0)
        assert guard.checks()["guard"].ok


async def test_a_key_goes_with_each_question_and_without_one_none_does(double: GuardDouble) -> None:
    async with guarding(settings(double, key="k-1")):
        await eventually(lambda: len(double.asked) == 1)
    async with guarding(settings(double)):
        await eventually(lambda: len(double.asked) == 2)
    heads = [each.head.lower() for each in double.asked]
    assert ["authorization: bearer k-1\r\n" in head for head in heads] == [True, False]
    assert "authorization" not in heads[1]
