"""One turn is one span, which whatever is done for it can name as its parent."""

import json
from contextlib import suppress
from dataclasses import replace

from gateway.running_turns import RunningTurns
from gateway.turn_trace import TurnTrace
from gateway.use_cases import use_cases
from sessions.errors import TutorUnavailable
from tests.support.moderated import banned, moderation
from tests.support.open_admission import unlimited
from tests.support.recorded_tracing import RecordedSpan, RecordedTracing
from tests.support.session_fakes import Handover, broken
from tests.support.shared_turns import Neighbourhood
from tests.support.stage import Stage, staged

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def traced(stage: Stage, tracing: RecordedTracing) -> RecordedSpan:
    async with RunningTurns(
        take_turn=unlimited(stage.use.take_turn),
        read_turn=stage.use.read_turn,
        shared=Neighbourhood().shared("here", stage.use.read_turn),
        grace_s=1,
        on_end=lambda _: None,
        tracing=tracing,
    ) as turns:
        with suppress(TutorUnavailable):
            reader = await turns.take(replace(stage.order(), trace_parent=CALLER))
            assert [event async for event in reader.events()]
    return tracing.spans[-1]


async def test_a_turn_is_a_span_of_its_caller_and_the_parent_of_what_the_tutor_does() -> None:
    stage, tracing = await staged(), RecordedTracing()
    stage.tutor.script = ("Hel", Handover("replica-2"), "lo.")
    span = await traced(stage, tracing)
    assert (span.name, span.parent, span.failed) == ("gateway.turn", CALLER, "")
    assert stage.tutor.requests[0].trace_parent == span.own
    assert span.facts["request_id"] == f"{stage.session.id}-1"
    assert (span.facts["state"], span.facts["replica"], span.facts["continued"]) == ("completed", "replica-2", 1)
    assert "Hel" not in json.dumps(span.facts)


async def test_a_span_ends_as_its_turn_does() -> None:
    stage, tracing = await staged(), RecordedTracing()
    stage.tutor.script = ("Hel", broken())
    assert (await traced(stage, tracing)).failed == "tutor_broke"
    stage.tutor.refusal = TutorUnavailable("what the trainee said", retry_after_s=1)
    await traced(stage, tracing)
    assert [span.failed for span in tracing.spans] == ["tutor_broke", "TutorUnavailable"]


async def test_a_blocked_message_is_a_span_that_nothing_followed() -> None:
    stage, tracing = await staged(), RecordedTracing()
    stage.use = use_cases(replace(stage.outside, moderation=moderation(banned("morning"))))
    span = await traced(stage, tracing)
    assert (span.facts["state"], span.facts["replica"], span.facts["pin"], span.failed) == ("blocked", "", "", "")
    assert "morning" not in json.dumps(span.facts)


async def test_where_nobody_traces_the_caller_s_trace_is_passed_on() -> None:
    stage = await staged()
    order = replace(stage.order(), trace_parent=CALLER)
    trace = TurnTrace(None, order)
    assert trace.order is order
    trace.end()
