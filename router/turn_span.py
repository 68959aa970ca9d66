"""The span of one turn, from the call to whatever has come of it."""

from router.domain.exchange import Call
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.domain.trace_parent import trace_parent_of
from router.ports import Span, Tracing


def start_turn_span(tracing: Tracing, call: Call) -> Span:
    span = tracing.start("router.carry", parent_header=trace_parent_of(call))
    span.note("request_id", call.request_id)
    return span


def end_turn_span(span: Span, replica: ReplicaId, pin: PinDecision, *, continued: int, failed: str) -> None:
    span.note("replica", replica)
    span.note("pin", pin)
    span.note("continued", continued)
    span.end(failed=failed)
