"""The bytes of a request; everything else of this adapter is in the contract suite."""

import json
from dataclasses import replace

from router.adapters.vllm_http import body_of
from router.domain.exchange import ChatRequest, Message

REQUEST = ChatRequest(
    model="smollm2",
    messages=(Message("system", "你好\u2028"), Message("user", 'a "b"\n')),
    max_tokens=16,
    temperature=0.5,
    cache_salt="tenant-1",
    request_id="r-1",
)


def test_the_body_is_what_the_engine_reads() -> None:
    assert json.loads(body_of(REQUEST)) == {
        "model": "smollm2",
        "messages": [{"role": "system", "content": "你好\u2028"}, {"role": "user", "content": 'a "b"\n'}],
        "max_tokens": 16,
        "temperature": 0.5,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_salt": "tenant-1",
    }


def test_characters_go_as_they_are() -> None:
    assert "你好".encode() in body_of(REQUEST)


def test_a_longer_conversation_begins_with_the_same_bytes() -> None:
    longer = replace(REQUEST, messages=(*REQUEST.messages, Message("assistant", "收到")))
    conversation = body_of(REQUEST).split(b'],"max_tokens"')[0]
    assert body_of(longer).startswith(conversation)


def test_an_empty_salt_is_left_out_since_the_engine_refuses_it() -> None:
    assert b"cache_salt" not in body_of(replace(REQUEST, cache_salt=""))


def test_a_lone_surrogate_does_not_stop_the_turn() -> None:
    assert (
        json.loads(body_of(replace(REQUEST, messages=(Message("user", "a\ud800"),))))["messages"][0]["content"] == "a?"
    )
