"""What an attempt shows to whoever traces, and takes along to the engine."""

from dataclasses import replace

import pytest

from router.domain.pin import PinDecision
from router.domain.trace_parent import trace_parent_of
from router.errors import EngineBroke, EngineRejected
from tests.support.recorded_tracing import RecordedTracing
from tests.support.router_house import REQUEST, House

CALLER = f"00-{7:032x}-{7:016x}-01"
TRACED = replace(REQUEST, trace_parent=CALLER)


async def test_without_tracing_the_callers_trace_goes_through_untouched() -> None:
    house = House()
    await house.turn(request=TRACED)
    assert trace_parent_of(house.fake.calls[0]) == CALLER


async def test_turn_attempts_and_engine_stand_in_one_line() -> None:
    tracing = RecordedTracing()
    house = House(tracing=tracing)
    home = (await house.turn(request=TRACED))[0]
    carry, attempt = tracing.spans
    assert [(span.name, span.parent) for span in tracing.spans] == [
        ("router.carry", CALLER),
        ("router.attempt", carry.own),
    ]
    assert trace_parent_of(house.fake.calls[0]) == attempt.own
    assert carry.facts == {
        "request_id": REQUEST.request_id,
        "replica": home,
        "pin": PinDecision.NEW,
        "continued": 0,
    }
    assert (carry.failed, attempt.failed) == ("", "")


async def test_a_failed_attempt_and_the_one_that_took_over_are_both_seen() -> None:
    tracing = RecordedTracing()
    house = House(tracing=tracing)
    home = (await house.turn())[0]
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    tracing.spans.clear()
    await house.turn()
    carry, lost, taken = tracing.spans
    assert (lost.failed, taken.failed, carry.failed) == ("EngineBroke", "", "")
    assert (lost.parent, taken.parent) == (carry.own, carry.own)
    assert carry.facts["continued"] == 1


async def test_a_turn_that_failed_says_with_what() -> None:
    tracing = RecordedTracing()
    house = House(tracing=tracing)
    home = (await house.turn())[0]
    house.fake.refuses(EngineRejected(home, "too long"))
    tracing.spans.clear()
    with pytest.raises(EngineRejected):
        await house.turn()
    assert [span.failed for span in tracing.spans] == ["EngineRejected", "EngineRejected"]
