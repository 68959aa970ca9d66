"""A call is traced under one span at a time, and keeps its other headers."""

from dataclasses import replace

import pytest

from router.domain.exchange import Call, CallPath
from router.domain.trace_parent import trace_parent_of, with_trace_parent, without_trace_parent

SESSION = ("X-Session-ID", "s")
CALL = Call(CallPath.CHAT, b"{}", "m", is_streamed=True, request_id="r", headers=(SESSION,))


@pytest.mark.parametrize("name", ["traceparent", "Traceparent"])
def test_another_span_takes_the_place_of_the_first(name: str) -> None:
    traced = replace(CALL, headers=(SESSION, (name, "00-0")))
    assert trace_parent_of(traced) == "00-0"
    assert with_trace_parent(traced, "00-1").headers == (SESSION, ("traceparent", "00-1"))
    assert without_trace_parent(traced) == CALL


def test_what_is_not_traced_stays_as_it_is() -> None:
    assert trace_parent_of(CALL) == ""
    assert with_trace_parent(CALL, "") is CALL
