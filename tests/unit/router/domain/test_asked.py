"""What a body asks for."""

import json

import pytest

from router.domain.asked import (
    Asked,
    can_take_token_ids,
    may_have_several_choices,
    may_want_usage,
    read_asked,
    says_token_ids,
    with_token_ids,
)
from router.domain.exchange import Call, CallPath


def call(body: bytes, *, path: CallPath = CallPath.CHAT, is_streamed: bool = True) -> Call:
    return Call(path, body, "m", is_streamed=is_streamed, request_id="r")


def chat(**body: object) -> Asked:
    return Asked(CallPath.CHAT, body)


def completion(**body: object) -> Asked:
    return Asked(CallPath.COMPLETIONS, body)


@pytest.mark.parametrize(
    ("body", "asking"),
    [
        (b'{"a": [1, 2],\n "b":"\xe6\x94\xb6"}', b'{"a": [1, 2],\n "b":"\xe6\x94\xb6","return_token_ids":true}'),
        (b' {"a":1 } \n', b' {"a":1,"return_token_ids":true}'),
        (b"{}", b'{"return_token_ids":true}'),
    ],
)
def test_token_ids_are_asked_for_by_a_splice(body: bytes, asking: bytes) -> None:
    assert can_take_token_ids(call(body))
    assert with_token_ids(call(body)).body == asking
    json.loads(asking)


def test_token_ids_are_left_to_a_caller_who_speaks_of_them() -> None:
    said = call(b'{"return_token_ids":false}')
    assert says_token_ids(said)
    assert not can_take_token_ids(said)
    assert not can_take_token_ids(call(b"{}", is_streamed=False))
    assert not can_take_token_ids(call(b"[1]"))


def test_several_choices_and_usage_are_suspected_by_their_bytes() -> None:
    for body in (b'{"n": 2}', b'{"use_beam_search":true}', b'{"best_of" :2}'):
        assert may_have_several_choices(call(body))
    assert may_have_several_choices(call(b'{"prompt" : ["a"]}', path=CallPath.COMPLETIONS))
    assert not may_have_several_choices(call(b'{"prompt":"a"}', path=CallPath.COMPLETIONS))
    assert not may_have_several_choices(call(b'{"prompt":"\\"n\\": 2"}'))
    assert may_want_usage(call(b'{"stream_options":{"include_usage":true}}'))
    assert not may_want_usage(call(b"{}"))


def test_a_body_that_is_no_object_asks_for_nothing() -> None:
    for body in (b"{", b"[1]", b"[" * 100_000):
        assert read_asked(call(body)).body == {}
    assert read_asked(call(b'{"n":2}')).choices == 2


def test_choices_are_replies_times_prompts() -> None:
    assert chat().choices == 1
    assert completion(prompt=["a", "b"], n=2).choices == 4
    assert completion(prompt=[5, 6, 7]).choices == 1
    assert completion(prompt=[[5], [6]]).choices == 2


def test_usage_is_wanted_only_if_asked_for() -> None:
    assert chat(stream_options={"include_usage": True}).wants_usage
    assert not chat(stream_options={}).wants_usage
    assert not chat(stream_options=None).wants_usage


def test_the_limit_is_the_one_the_engine_takes() -> None:
    assert chat(max_tokens=5).most_tokens == 5
    assert chat(max_tokens=5, max_completion_tokens=3).most_tokens == 3
    assert chat().most_tokens is None
    assert completion().most_tokens == 16
    assert completion(max_tokens=None).most_tokens is None


def test_tokens_come_one_in_an_event_unless_asked_otherwise() -> None:
    assert chat(stream_interval=4).tokens_per_event == 4
    assert chat(stream_interval=0).tokens_per_event == chat().tokens_per_event == 1


def test_text_is_held_back_by_the_longest_stop_string_less_one() -> None:
    assert chat(stop=["ab", "", "abcd", 5]).held_chars == 3
    assert chat(stop="ab").stops == ["ab"]
    assert chat(stop=None).held_chars == 0
    assert chat(stop=["abc"], include_stop_str_in_output=True).held_chars == 0
    assert chat(stop="ab", include_stop_str_in_output=True).tells_stops
    assert chat(stop="ab", min_tokens=3).watched_stops == []
    assert chat(stop="ab").watched_stops == ["ab"]


def test_a_second_answer_says_the_same_only_if_nothing_is_left_to_chance() -> None:
    assert chat(temperature=0).is_repeatable
    assert chat(temperature=0.5, seed=1).is_repeatable
    assert not chat(seed=None).is_repeatable


@pytest.mark.parametrize(
    "body",
    [
        {"response_format": {"type": "json_schema"}},
        {"structured_outputs": {"choice": ["a"]}},
        {"guided_regex": "a+"},
        {"grammar": "root ::= x"},
    ],
)
def test_a_grammar_constrains_the_reply(body: dict[str, object]) -> None:
    assert chat(**body).is_constrained


def test_plain_text_is_not_constrained() -> None:
    assert not chat(response_format={"type": "text"}, guided_json=None).is_constrained
    assert not chat(response_format=None).is_constrained


def test_tools_count_unless_they_are_switched_off() -> None:
    assert chat(tools=[{}]).has_tools
    assert chat(functions=[{}]).has_tools
    assert not chat(tools=[{}], tool_choice="none").has_tools
    assert not chat(tools=[]).has_tools
    assert chat(tools=[{}], tool_choice="required").must_call_a_tool
    assert chat(tool_choice={"type": "function"}).must_call_a_tool
    assert not chat(tool_choice="auto").must_call_a_tool


@pytest.mark.parametrize(
    ("content", "is_text"),
    [
        ("a", True),
        (None, True),
        ([{"type": "text", "text": "a"}, "b"], True),
        ([{"type": "image_url"}], False),
        ([5], False),
    ],
)
def test_pictures_are_not_in_the_tokens(content: object, is_text: bool) -> None:
    assert chat(messages=[{"role": "user", "content": content}]).has_only_text is is_text


def test_a_completion_and_odd_messages_are_taken_for_text() -> None:
    assert completion(prompt="a").has_only_text
    assert chat(messages=["a"]).has_only_text
