"""What is told of an answer is the same however the engine cuts it, and nothing of a banned phrase."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.limits import Spent
from gateway.domain.moderation.phrases import Action, PhraseList
from gateway.told_chat import ToldEvents, whole_as_told
from tests.support.moderated import banned, released_by
from tests.support.vllm_wire import DONE, Generation

PIECES = ["The ", "capital"]
ANSWER = Generation("chatcmpl-1", "smollm2", PIECES, "stop", 27, 16)
USAGE = ANSWER.chunk(choices=[], usage=ANSWER.usage())
STREAM = b"".join([ANSWER.role(), *map(ANSWER.text, PIECES), ANSWER.finish("", "stop"), USAGE, DONE])
KNOWN = {"id", "object", "created", "model", "system_fingerprint", "choices", "usage"}
"""What a chunk may have."""
LISTS = (banned("secret word", "保本高收益"), banned("hush now", action=Action.MASK, name="masked"))
CALL: dict[str, Any] = {"index": 0, "id": "c", "type": "function", "function": {"name": "price", "arguments": '{"of":'}}


def told_by(*lists: PhraseList, wants_usage: bool = False) -> ToldEvents:
    return ToldEvents(released_by(*lists), wants_usage=wants_usage, spent_on=lambda said: Spent(27, len(said.split())))


def chunks(told: bytes) -> list[dict[str, Any]]:
    blocks = told.decode().removesuffix("\n\n").split("\n\n")
    return [json.loads(block.removeprefix("data: ")) for block in blocks if block != "data: [DONE]"]


def text_of(told: bytes, member: str = "content") -> str:
    return "".join(chunk["choices"][0]["delta"].get(member) or "" for chunk in chunks(told) if chunk["choices"])


def reason_of(told: bytes) -> str:
    """The one reason, which is the last that is told of the choice."""
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks(told) if chunk["choices"]]
    assert not any(reasons[:-1])
    return str(reasons[-1])


def said(*deltas: dict[str, Any], reason: str = "stop", index: int = 0) -> bytes:
    choices = [{"index": index, "delta": delta, "finish_reason": None} for delta in deltas]
    last = {"index": index, "delta": {}, "finish_reason": reason}
    return b"".join(ANSWER.chunk(choices=[choice]) for choice in [*choices, last])


def whole(reason: str = "stop", **message: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return json.dumps({"id": "c", "choices": [choice], "usage": ANSWER.usage()}).encode()


async def test_a_stream_in_which_nothing_is_held_is_told_as_it_came() -> None:
    events = told_by(*LISTS)
    told = await events.feed(STREAM)
    assert text_of(told) == events.said == "The capital"
    assert told.endswith(b"data: [DONE]\n\n")
    assert all(set(chunk) <= KNOWN - {"usage"} for chunk in chunks(told))
    assert [set(chunk["choices"][0]) for chunk in chunks(told)] == [{"index", "delta", "logprobs", "finish_reason"}] * 4
    assert (events.spent, events.is_done, events.is_blocked) == (Spent(27, 3), True, False)
    assert not told_by().is_done


async def test_the_usage_comes_last_for_whoever_asked() -> None:
    told = chunks(await told_by(wants_usage=True).feed(STREAM))
    assert [chunk["usage"] for chunk in told[:-1]] == [None] * 4
    assert told[-1]["choices"] == []
    assert told[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 16, "created_cache_tokens": 0}
    assert "usage" not in (await told_by().feed(STREAM)).decode()


async def test_comments_are_not_told() -> None:
    assert await told_by().feed(b': drillyard {"continued":1}\n\n') == b""


@given(st.lists(st.integers(1, 5), max_size=6))
async def test_however_events_come_together_they_tell_the_same(cuts: list[int]) -> None:
    blocks = [block + b"\n\n" for block in STREAM.removesuffix(b"\n\n").split(b"\n\n")]
    events, told = told_by(wants_usage=True), b""
    for cut in [*cuts, len(blocks)]:
        told += await events.feed(b"".join(blocks[:cut]))
        blocks = blocks[cut:]
    assert told == await told_by(wants_usage=True).feed(STREAM)


async def test_calls_of_tools_are_told_and_counted() -> None:
    events = told_by(*LISTS)
    told = chunks(await events.feed(said({"tool_calls": [CALL]}, reason="tool_calls")))
    assert told[0]["choices"][0]["delta"] == {"tool_calls": [CALL]}
    assert events.said == 'price{"of":'


HOSTILE = [
    ("It is a secret word, you see", "It is a ", "content_filter"),
    ("It is a s e c r e t w o r d", "It is a ", "content_filter"),
    ("It is a SEC\u200bRET\u00a0w\u043erd", "It is a ", "content_filter"),
    ("我们的保-本 高收益产品", "我们的", "content_filter"),
    ("We hush now and go", "We *** and go", "stop"),
    ("It ends with a secret", "It ends with a secret", "stop"),
    ("It ends with a secret word", "It ends with a ", "content_filter"),
]


@pytest.mark.parametrize("member", ["content", "reasoning", "reasoning_content", "refusal"])
@pytest.mark.parametrize(("text", "expected", "reason"), HOSTILE)
async def test_what_is_told_is_the_same_however_it_is_cut(text: str, expected: str, reason: str, member: str) -> None:
    for size in range(1, len(text) + 1):
        pieces = [{member: text[at : at + size]} for at in range(0, len(text), size)]
        events = told_by(*LISTS)
        told = b"".join([await events.feed(each) for each in (said(*pieces), DONE)])
        assert (text_of(told, member), reason_of(told)) == (expected, reason)
        assert told.endswith(b"data: [DONE]\n\n")
        assert events.is_blocked is (reason == "content_filter")
    answer = json.loads((await whole_as_told(whole(**{member: text}), released_by(*LISTS))).body)
    assert (answer["choices"][0]["message"][member], answer["choices"][0]["finish_reason"]) == (expected, reason)


async def test_what_was_held_comes_before_the_end() -> None:
    told = chunks(await told_by(*LISTS).feed(said({"content": "a "}, {"content": "secret"})))
    last, end = (chunk["choices"][0] for chunk in told[-2:])
    assert (last["delta"], last["finish_reason"]) == ({"content": "secret"}, None)
    assert (end["delta"], end["finish_reason"]) == ({}, "stop")


async def test_text_that_comes_with_the_end_is_told_before_it_once_some_was_held() -> None:
    told = await told_by(*LISTS).feed(ANSWER.text("a secret") + ANSWER.finish(" wall", "stop"))
    assert text_of(told) == "a secret wall"
    held = await told_by(*LISTS).feed(ANSWER.text("a ") + ANSWER.finish("secret", "length"))
    assert (text_of(held), reason_of(held)) == ("a secret", "length")
    assert chunks(held)[-1]["choices"][0]["delta"] == {}


async def test_nothing_follows_a_block_but_the_end_with_the_usage() -> None:
    events = told_by(*LISTS, wants_usage=True)
    told = await events.feed(said({"content": "A secret word"}, {"content": "!"}) + USAGE)
    *_, end, usage = chunks(told)
    assert (end["choices"][0]["finish_reason"], end["usage"]) == ("content_filter", None)
    assert usage["choices"] == []
    assert usage["usage"] == {"prompt_tokens": 27, "completion_tokens": 3, "total_tokens": 30}
    assert (told.endswith(b"data: [DONE]\n\n"), told.count(b"[DONE]")) == (True, 1)
    assert await events.feed(STREAM) == b""


async def test_choices_are_independent_and_the_stream_goes_on_until_all_are_over() -> None:
    events = told_by(*LISTS)
    begin = said({"content": "Well"}, index=1)
    first, last = begin[: begin.index(b"\n\n") + 2], begin[begin.index(b"\n\n") + 2 :]
    told = await events.feed(first + said({"content": "A secret word"}, {"content": " more"}))
    assert not events.is_blocked
    told += await events.feed(last)
    assert (events.is_blocked, events.is_done) == (True, True)
    by_choice = [
        (each["index"], each["delta"].get("content"), each["finish_reason"])
        for chunk in chunks(told)
        for each in chunk["choices"]
    ]
    assert by_choice == [
        (1, "Well", None),
        (0, "A ", None),
        (0, None, "content_filter"),
        (1, None, "stop"),
    ]


def arguments(text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}


async def test_arguments_of_tools_are_held_and_blocked_like_any_text() -> None:
    head = {"tool_calls": [{**CALL, "function": {"name": "price", "arguments": ""}}]}
    pieces = list('{"of":"the secret word"}')
    told = await told_by(*LISTS).feed(said(head, *map(arguments, pieces), reason="tool_calls"))
    calls = [call for c in chunks(told) for call in c["choices"][0]["delta"].get("tool_calls", [])]
    assert calls[0]["function"]["name"] == "price"
    assert "".join(call["function"]["arguments"] for call in calls) == '{"of":"the '
    assert reason_of(told) == "content_filter"
    call = {**CALL, "function": {"name": "price", "arguments": "".join(pieces)}}
    after = {**CALL, "index": 1, "function": {"name": "later", "arguments": "{}"}}
    answer = json.loads((await whole_as_told(whole(tool_calls=[call, after]), released_by(*LISTS))).body)
    (choice,) = answer["choices"]
    (told_call,) = choice["message"]["tool_calls"]
    assert (told_call["function"]["arguments"], choice["finish_reason"]) == ('{"of":"the ', "content_filter")


async def test_the_name_of_a_tool_is_whole_once_its_arguments_begin() -> None:
    first = {"tool_calls": [{**CALL, "function": {"name": "secret"}}]}
    told = chunks(await told_by(*LISTS).feed(said(first, arguments("{"), first, arguments("}"))))
    calls = [call for c in told for call in c["choices"][0]["delta"].get("tool_calls", [])]
    assert "".join(call["function"].get("name", "") for call in calls) == "secret"
    assert "".join(call["function"].get("arguments", "") for call in calls) == "{}"
    blocked = {"tool_calls": [{**CALL, "function": {"name": "secret word", "arguments": "{}"}}]}
    end = await told_by(*LISTS).feed(said(blocked))
    assert ("secret" in end.decode(), reason_of(end)) == (False, "content_filter")


async def test_a_block_ends_all_texts_of_the_choice_and_releases_what_others_held() -> None:
    told = await told_by(*LISTS).feed(said({"reasoning": "a secret"}, {"content": "secret word"}))
    assert (text_of(told, "reasoning"), text_of(told), reason_of(told)) == ("a secret", "", "content_filter")
    message = {"reasoning": "a secret", "content": "secret word"}
    answer = json.loads((await whole_as_told(whole(**message), released_by(*LISTS))).body)
    told_message = answer["choices"][0]["message"]
    assert (told_message["reasoning"], told_message["content"]) == ("a secret", "")


def likely(text: str) -> dict[str, Any]:
    top = [{"token": "secret word", "logprob": -2.0, "bytes": None}]
    return {"content": [{"token": text, "logprob": -1.0, "bytes": None, "top_logprobs": top}], "refusal": None}


async def test_likelihoods_tell_nothing_of_what_is_held_or_blocked() -> None:
    deltas = [
        {"index": 0, "delta": {"content": text}, "logprobs": likely(text), "finish_reason": None}
        for text in ("It ", "is a ", "secret", " word")
    ]
    told = await told_by(*LISTS).feed(
        b"".join(ANSWER.chunk(choices=[each]) for each in deltas) + ANSWER.finish("", "stop")
    )
    logprobs = [chunk["choices"][0]["logprobs"] for chunk in chunks(told)]
    assert [each and each["content"][0]["token"] for each in logprobs] == ["It ", "is a ", None]
    assert reason_of(told) == "content_filter"
    assert "secret" not in told.decode()


async def test_half_a_token_whose_text_is_still_to_come_is_not_told_by_its_likelihood() -> None:
    delta = {"index": 0, "delta": {"content": ""}, "logprobs": likely("secret"), "finish_reason": None}
    assert b"secret" not in await told_by(*LISTS).feed(ANSWER.chunk(choices=[delta]))


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


async def test_a_whole_answer_is_told_without_the_engines_own() -> None:
    told = await whole_as_told(WHOLE.encode(), released_by(*LISTS))
    ours = json.loads(told.body)
    assert set(ours) == KNOWN
    message = {"role": "assistant", "content": "Paris.", "refusal": None, "reasoning": None}
    assert ours["choices"] == [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}]
    assert (told.said, told.spent) == ("Paris.", Spent(27, 8))


@given(text=st.text(st.sampled_from("secrt wodhun保本"), max_size=40), size=st.integers(1, 7))
async def test_a_stream_and_a_whole_answer_tell_the_same(text: str, size: int) -> None:
    pieces = [{"content": text[at : at + size]} for at in range(0, len(text), size)]
    told = await told_by(*LISTS).feed(said(*pieces))
    answer = json.loads((await whole_as_told(whole(content=text), released_by(*LISTS))).body)
    assert (text_of(told), reason_of(told)) == (
        answer["choices"][0]["message"]["content"],
        answer["choices"][0]["finish_reason"],
    )
