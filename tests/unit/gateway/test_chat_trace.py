"""A chat completion as a span, with figures and ids alone."""

import pytest

from gateway.chat_trace import traced_chat
from gateway.domain.limits import Spent
from gateway.domain.openai_parameters import ParameterPolicy
from gateway.domain.openai_request import asked_chat
from gateway.open_chat import OpenChat
from router.domain.exchange import Call, CallPath
from router.errors import EngineBroke
from tests.support.moderated import released_by
from tests.support.recorded_tracing import RecordedTracing
from tests.support.scripted_carrier import PIECES, PROMPT_TOKENS, Carried, usual

CALL = Call(CallPath.CHAT, b"secret words", "fake", is_streamed=False, request_id="chat-1")


def chat() -> OpenChat:
    asked = asked_chat({"model": "fake", "messages": [{"role": "user", "content": "Hi"}]}, ParameterPolicy())
    return OpenChat(Carried(usual(CALL)), asked, rules=released_by(), estimate=Spent(1, 1), standing=(), count=len)


async def test_a_span_tells_where_it_ran_and_what_it_cost() -> None:
    tracing, opened = RecordedTracing(), chat()
    with traced_chat(tracing, "00-caller") as trace:
        trace.carried(CALL, opened)
        await opened.read()
        trace.ended(opened)
    (span,) = tracing.spans
    assert (span.name, span.parent, span.failed, trace.header) == ("gateway.chat", "00-caller", "", span.own)
    assert span.facts == {
        "request_id": "chat-1",
        "model": "fake",
        "pin": "new",
        "replica": "a",
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": len(PIECES) + 1,
    }


def test_a_failure_is_named_and_not_quoted() -> None:
    tracing = RecordedTracing()
    with pytest.raises(EngineBroke), traced_chat(tracing, ""):
        raise EngineBroke("a", "secret words")
    assert tracing.spans[0].failed == "EngineBroke"


async def test_an_answer_that_broke_has_no_figures() -> None:
    tracing, broken = RecordedTracing(), chat()
    broken._whole = None
    with traced_chat(tracing, "") as trace:
        trace.ended(broken)
    assert tracing.spans[0].facts == {"replica": "a"}


def test_where_nobody_traces_the_callers_own_goes_on() -> None:
    with traced_chat(None, "00-caller") as trace:
        trace.carried(CALL, chat())
        trace.ended(chat())
    assert trace.header == "00-caller"
