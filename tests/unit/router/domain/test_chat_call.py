"""A chat request becomes the same bytes every time."""

import json

from router.domain.chat_call import chat_call
from router.domain.exchange import CallPath, ChatRequest, Message

REQUEST = ChatRequest("m", (Message("system", "Be kind."), Message("user", "Grüß dich\n")), 16, 0.5, "tenant-1", "r-1")


def test_the_body_is_what_the_engine_expects() -> None:
    call = chat_call(REQUEST)
    assert (call.path, call.model, call.is_streamed, call.request_id) == (CallPath.CHAT, "m", True, "r-1")
    assert json.loads(call.body) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Grüß dich\n"}],
        "max_tokens": 16,
        "temperature": 0.5,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_salt": "tenant-1",
    }
    assert chat_call(REQUEST) == call
    assert "ü".encode() in call.body


def test_what_is_not_told_is_not_sent() -> None:
    call = chat_call(ChatRequest("m", (), 16, 0.0, "", "r-1"))
    assert b"cache_salt" not in call.body
    assert call.headers == ()


def test_session_and_trace_go_along_as_headers() -> None:
    request = ChatRequest("m", (), 16, 0.0, "", "r-1", session_id="s-1", trace_parent="00-a-b-01")
    assert chat_call(request).headers == (("X-Session-ID", "s-1"), ("traceparent", "00-a-b-01"))


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert b'"content":"a?b"' in chat_call(ChatRequest("m", (Message("user", "a\ud800b"),), 1, 0.0, "", "r")).body


def test_the_chat_template_is_given_its_arguments() -> None:
    request = ChatRequest("m", (), 16, 0.0, "", "r", template_arguments=(("date_string", "01 Jan 2026"),))
    assert b'"chat_template_kwargs":{"date_string":"01 Jan 2026"}' in chat_call(request).body
    assert b"chat_template_kwargs" not in chat_call(REQUEST).body
