"""What the span of a turn says."""

from router.domain.chat_call import chat_call
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.turn_span import end_turn_span, start_turn_span
from tests.support.recorded_tracing import RecordedTracing
from tests.support.router_house import REQUEST


def test_it_names_the_request_and_what_has_come_of_it() -> None:
    tracing = RecordedTracing()
    span = start_turn_span(tracing, chat_call(REQUEST))
    end_turn_span(span, ReplicaId("a"), PinDecision.MOVED, continued=1, failed="EngineBroke")
    (recorded,) = tracing.spans
    assert (recorded.name, recorded.failed) == ("router.carry", "EngineBroke")
    assert recorded.facts == {"request_id": REQUEST.request_id, "replica": "a", "pin": "moved", "continued": 1}
