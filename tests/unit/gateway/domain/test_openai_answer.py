import json
from typing import Any

import pytest

from gateway.domain.limits import Spent
from gateway.domain.openai_answer import (
    index_of,
    is_done,
    read_event,
    read_whole,
    told_choice,
    told_event,
    told_usage,
    told_whole,
    usage_of,
)
from router.errors import StreamBroken
from tests.support.vllm_wire import DONE, Generation, event

ANSWER = Generation("chatcmpl-1", "smollm2", ["The ", "capital"], "stop", 27, 16)
HEAD = {"id", "object", "created", "model"}


def block(whole: bytes) -> bytes:
    return whole.removesuffix(b"\n\n")


def of(told: bytes) -> Any:
    return json.loads(told.removeprefix(b"data: "))


def test_an_event_is_read_without_the_engines_own() -> None:
    answer = read_event(block(ANSWER.role()))
    assert answer is not None
    assert set(answer.head) == HEAD
    (choice,) = answer.choices
    assert (index_of(choice), choice["delta"]) == (0, {"role": "assistant", "content": ""})
    assert (answer.usage, answer.spent) == (None, None)


def test_the_usage_is_read_without_the_engines_own() -> None:
    answer = read_event(block(ANSWER.chunk(choices=[], usage={**ANSWER.usage(), "ours": 1})))
    assert answer is not None
    assert answer.choices == ()
    assert answer.spent == Spent(27, 3)
    assert answer.usage is not None
    assert set(answer.usage) == {"prompt_tokens", "total_tokens", "completion_tokens", "prompt_tokens_details"}


@pytest.mark.parametrize("silent", [b': drillyard {"continued":1}', block(DONE), b""])
def test_what_says_nothing_is_none(silent: bytes) -> None:
    assert read_event(silent) is None
    assert is_done(silent) is (silent == block(DONE))


def test_a_choice_is_told_with_what_is_changed_and_without_the_engines_own() -> None:
    choice = {"index": 1, "delta": {"content": "x"}, "finish_reason": None, "token_ids": [1]}
    assert told_choice(choice, {"delta": {}}) == {"index": 1, "delta": {}, "finish_reason": None}
    assert index_of({"delta": {}}) == 0


def test_only_who_asked_for_the_usage_is_told_of_it() -> None:
    assert of(told_event({"id": "c"}, [{"index": 0}], wants_usage=False)) == {"id": "c", "choices": [{"index": 0}]}
    assert of(told_event({"id": "c"}, [], wants_usage=True)) == {"id": "c", "choices": [], "usage": None}
    usage = usage_of(Spent(2, 3))
    assert usage == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    assert of(told_usage({"id": "c"}, usage)) == {"id": "c", "choices": [], "usage": usage}


def test_an_engine_may_tell_no_usage() -> None:
    answer = read_whole(b'{"id":"c","choices":[{"message":{"content":"Hi"}}]}')
    assert answer.spent is None
    assert json.loads(told_whole(answer, answer.choices)) == {
        "id": "c",
        "choices": [{"message": {"content": "Hi"}}],
        "usage": None,
    }


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"choices":[]}', b'{"choices":["x"]}', b'{"error":{"message":"no"}}']
)
def test_what_is_no_answer_is_a_broken_one(body: bytes) -> None:
    with pytest.raises(StreamBroken):
        read_whole(body)


def test_a_usage_that_counts_nothing_is_a_broken_one() -> None:
    useless: list[object] = [{}, {"prompt_tokens": 1}, []]
    for usage in useless:
        with pytest.raises(StreamBroken):
            read_event(block(event({"choices": [], "usage": usage})))
