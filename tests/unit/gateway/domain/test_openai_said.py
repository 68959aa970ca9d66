from typing import Any

import pytest

from gateway.domain.openai_said import (
    CONTENT,
    Place,
    logprobs_told,
    says_anything,
    texts_of,
    with_texts,
    without_empty_calls,
    words_of,
)

CALL = {"index": 2, "id": "c", "type": "function", "function": {"name": "price", "arguments": '{"of":'}}
DELTA: Any = {"role": "assistant", "content": "a", "reasoning": "b", "refusal": None, "tool_calls": [CALL]}
NAME, ARGUMENTS = Place("name", 2), Place("arguments", 2)


def test_the_words_of_a_choice_are_those_that_openai_has() -> None:
    assert words_of({"delta": {"content": "a", "token_ids": [1]}}, "delta") == {"content": "a"}
    assert words_of({"delta": None}, "delta") == {}


def test_words_in_a_form_that_is_not_openais_are_not_told() -> None:
    part = {"type": "text", "text": "a"}
    odd = {"role": ["assistant"], "content": [part], "reasoning": {"text": "a"}, "refusal": None, "tool_calls": "a"}
    assert words_of({"message": odd}, "message") == {"refusal": None}
    function = {"name": "price", "arguments": {"of": "a"}, "parsed": "a"}
    calls = [{**CALL, "custom": {"input": "a"}, "id": ["a"], "function": function}, "a", {"index": 3, "type": "custom"}]
    told = [{"index": 2, "type": "function", "function": {"name": "price"}}, {"index": 3, "type": "custom"}]
    assert words_of({"delta": {"tool_calls": calls}}, "delta") == {"tool_calls": told}


def test_texts_come_in_the_order_in_which_they_are_said() -> None:
    told = [(Place("reasoning"), "b"), (CONTENT, "a"), (NAME, "price"), (ARGUMENTS, '{"of":')]
    assert texts_of(DELTA) == told
    assert texts_of({"content": "", "tool_calls": None}) == [(CONTENT, "")]


def test_calls_without_numbers_stand_in_their_order() -> None:
    calls = [{"function": {"name": name}} for name in ("one", "two")]
    assert texts_of({"tool_calls": calls}) == [(Place("name", 0), "one"), (Place("name", 1), "two")]
    assert texts_of({"tool_calls": [{"index": -1, "function": {"name": "one"}}]}) == [(Place("name", 0), "one")]


def test_texts_are_put_in_the_place_of_others() -> None:
    told = with_texts(DELTA, {place: text.upper() for place, text in texts_of(DELTA)})
    assert told == {
        **DELTA,
        "content": "A",
        "reasoning": "B",
        "tool_calls": [{**CALL, "function": {"name": "PRICE", "arguments": '{"OF":'}}],
        "role": "assistant",
    }
    silent = with_texts(DELTA, {place: "" for place, _ in texts_of(DELTA)})
    assert (silent["content"], silent["tool_calls"]) == ("", [{**CALL, "function": {"name": "", "arguments": ""}}])


def test_texts_without_a_place_get_one() -> None:
    told = with_texts({}, {CONTENT: "a", ARGUMENTS: "}", Place("refusal"): "", Place("arguments", 3): ""})
    assert told == {"content": "a", "tool_calls": [{"index": 2, "function": {"arguments": "}"}}]}
    more = {"index": 2, "function": {"arguments": "{"}}
    assert with_texts({"tool_calls": [more]}, {NAME: "", ARGUMENTS: "{"}) == {"tool_calls": [more]}


def test_calls_of_which_nothing_is_told_can_be_left_out() -> None:
    empty = {"index": 0, "id": "d", "function": {"name": "", "arguments": ""}}
    assert without_empty_calls({"content": "a", "tool_calls": [CALL, empty]}) == {"content": "a", "tool_calls": [CALL]}
    assert without_empty_calls({"content": "a", "tool_calls": [empty]}) == {"content": "a"}
    assert without_empty_calls({"content": "a"}) == {"content": "a"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"role": "assistant", "content": ""}, True),
        ({"tool_calls": [{"id": "c", "function": {"name": ""}}]}, True),
        ({"content": "a"}, True),
        ({"content": ""}, False),
        ({"tool_calls": [{"index": 0, "function": {"arguments": ""}}]}, False),
        ({}, False),
    ],
)
def test_what_says_something_would_be_missed(words: dict[str, Any], says: bool) -> None:
    assert says_anything(words) is says


def test_likelihoods_are_told_of_just_what_is_said() -> None:
    alternatives = [{"token": "secret", "logprob": -3.0, "bytes": None}]
    tokens = [
        {"token": token, "logprob": -0.5, "bytes": [1], "top_logprobs": alternatives, "rank": 1} for token in ("a", "b")
    ]
    told = logprobs_told({"content": tokens, "refusal": None}, "ab")
    assert told is not None
    assert told["content"] == [
        {"token": token, "logprob": -0.5, "bytes": [1], "top_logprobs": []} for token in ("a", "b")
    ]
    assert logprobs_told({"content": tokens}, "a") is None
    assert logprobs_told({"content": []}, "") is None
    assert logprobs_told(None, "") is None
