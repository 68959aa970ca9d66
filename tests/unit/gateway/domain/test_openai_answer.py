import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.limits import Spent
from gateway.domain.openai_answer import ToldEvents, told_whole
from router.errors import StreamBroken
from tests.support.vllm_wire import DONE, Generation, event

PIECES = ["The ", "capital"]
ANSWER = Generation("chatcmpl-1", "smollm2", PIECES, "stop", 27, 16)
USAGE = ANSWER.chunk(choices=[], usage=ANSWER.usage())
STREAM = b"".join([ANSWER.role(), *map(ANSWER.text, PIECES), ANSWER.finish("", "stop"), USAGE, DONE])
KNOWN = {"id", "object", "created", "model", "system_fingerprint", "choices", "usage"}
"""What a chunk may have."""


def chunks(told: bytes) -> list[dict[str, Any]]:
    blocks = told.decode().removesuffix("\n\n").split("\n\n")
    return [json.loads(block.removeprefix("data: ")) for block in blocks if block != "data: [DONE]"]


def text_of(told: bytes) -> str:
    return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks(told) if chunk["choices"])


def test_a_stream_is_told_without_the_engines_own() -> None:
    events = ToldEvents(wants_usage=False)
    told = events.feed(STREAM)
    assert text_of(told) == events.said == "The capital"
    assert told.endswith(b"data: [DONE]\n\n")
    assert all(set(chunk) <= KNOWN - {"usage"} for chunk in chunks(told))
    assert [set(chunk["choices"][0]) for chunk in chunks(told)] == [{"index", "delta", "logprobs", "finish_reason"}] * 4
    assert events.spent == Spent(27, 3)
    assert events.is_done
    assert not ToldEvents(wants_usage=False).is_done


def test_the_usage_comes_last_for_whoever_asked() -> None:
    told = chunks(ToldEvents(wants_usage=True).feed(STREAM))
    assert [chunk["usage"] for chunk in told[:-1]] == [None] * 4
    assert told[-1]["choices"] == []
    assert told[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 16, "created_cache_tokens": 0}
    assert "usage" not in ToldEvents(wants_usage=False).feed(STREAM).decode()


def test_comments_are_not_told() -> None:
    assert ToldEvents(wants_usage=False).feed(b': drillyard {"continued":1}\n\n') == b""


@given(st.lists(st.integers(1, 5), max_size=6))
def test_however_events_come_together_they_tell_the_same(cuts: list[int]) -> None:
    blocks = [block + b"\n\n" for block in STREAM.removesuffix(b"\n\n").split(b"\n\n")]
    events, told = ToldEvents(wants_usage=True), b""
    for cut in [*cuts, len(blocks)]:
        told += events.feed(b"".join(blocks[:cut]))
        blocks = blocks[cut:]
    assert told == ToldEvents(wants_usage=True).feed(STREAM)


def test_calls_of_tools_are_told_and_counted() -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "price", "arguments": '{"of":'}}
    events = ToldEvents(wants_usage=False)
    told = chunks(events.feed(ANSWER.chunk(choices=[{"index": 0, "delta": {"tool_calls": [call]}}])))
    assert told[0]["choices"][0]["delta"] == {"tool_calls": [call]}
    assert events.said == 'price{"of":'


def test_all_text_goes_through_the_one_place() -> None:
    events = ToldEvents(wants_usage=False, release=str.upper)
    delta = {"role": "assistant", "content": "a", "reasoning": "b", "refusal": None}
    told = chunks(events.feed(ANSWER.chunk(choices=[{"index": 0, "delta": delta}])))
    assert told[0]["choices"][0]["delta"] == {"role": "assistant", "content": "A", "reasoning": "B", "refusal": None}
    whole = told_whole(json.dumps({"choices": [{"index": 0, "message": {"content": "a"}}]}).encode(), release=str.upper)
    assert (json.loads(whole.body)["choices"][0]["message"]["content"], whole.said) == ("A", "A")


WHOLE = (
    '{"id":"chatcmpl-bf0f","object":"chat.completion","created":1795956720,"model":"smollm2","choices":[{"index":0,'
    '"message":{"role":"assistant","content":"Paris.","refusal":null,"annotations":null,"audio":null,'
    '"function_call":null,"reasoning":null},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,'
    '"routed_experts":null}],"service_tier":null,"system_fingerprint":"vllm-0.32.0-2af0b41f","usage":{"prompt_tokens":27,'
    '"total_tokens":35,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":0},'
    '"completion_tokens_details":null},"prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null,'
    '"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}'
)
"""As vLLM 0.32 has it."""


def test_a_whole_answer_is_told_without_the_engines_own() -> None:
    told = told_whole(WHOLE.encode())
    ours = json.loads(told.body)
    assert set(ours) == KNOWN
    message = {"role": "assistant", "content": "Paris.", "refusal": None, "reasoning": None}
    assert ours["choices"] == [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}]
    assert (told.said, told.spent) == ("Paris.", Spent(27, 8))


def test_an_engine_may_tell_no_usage() -> None:
    told = told_whole(b'{"choices":[{"message":{"content":"Hi"}}]}')
    assert (told.spent, told.said, json.loads(told.body)["usage"]) == (None, "Hi", None)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"choices":[]}', b'{"choices":["x"]}', b'{"error":{"message":"no"}}']
)
def test_what_is_no_answer_is_a_broken_one(body: bytes) -> None:
    with pytest.raises(StreamBroken):
        told_whole(body)


def test_a_usage_that_counts_nothing_is_a_broken_one() -> None:
    useless: list[object] = [{}, {"prompt_tokens": 1}, []]
    for usage in useless:
        with pytest.raises(StreamBroken):
            ToldEvents(wants_usage=True).feed(event({"choices": [], "usage": usage}))
