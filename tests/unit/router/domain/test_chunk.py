"""What one event says."""

import json

import pytest

from router.domain.chunk import Chunk, Counts, read_chunk
from router.errors import StreamBroken


def chunk(choice: object = None, **rest: object) -> Chunk:
    choices = [] if choice is None else [choice]
    return read_chunk(json.dumps({"choices": choices, **rest}).encode())


def delta(**fields: object) -> Chunk:
    return chunk({"index": 0, "delta": fields, "finish_reason": None})


def test_the_text_is_that_of_a_chat_or_of_a_completion() -> None:
    assert delta(content="收").text == "收"
    assert chunk({"text": "a"}).text == "a"
    assert delta(content=None).text == delta().text == chunk().text == chunk({"delta": None}).text == ""


def test_tokens_and_place_are_told_or_not() -> None:
    assert chunk({"token_ids": [1, 2], "index": 1}).token_ids == [1, 2]
    assert chunk({"token_ids": None}).token_ids is None
    assert chunk({"index": 1}).index == 1
    assert chunk().index == 0


def test_reasoning_and_tools_are_more_than_text() -> None:
    assert delta(reasoning="a").is_reasoning
    assert delta(reasoning_content="a").says_something
    assert delta(tool_calls=[{"index": 0}]).is_beyond_text
    assert delta(refusal="no").says_something
    assert not delta(content="", tool_calls=[], reasoning=None).says_something


def test_half_a_character_has_an_event_without_text() -> None:
    assert delta(content="").may_be_half_a_character
    assert not delta(role="assistant", content="").may_be_half_a_character
    assert not chunk().may_be_half_a_character


def test_only_three_reasons_end_a_reply() -> None:
    reasons = ["stop", "length", "tool_calls", None]
    assert [chunk({"finish_reason": reason}).finish_reason for reason in reasons] == reasons


@pytest.mark.parametrize("reason", ["abort", "error", "", ["stop"], 1])
def test_another_reason_is_broken(reason: object) -> None:
    with pytest.raises(StreamBroken, match="ended the reply with the reason"):
        _ = chunk({"finish_reason": reason}).finish_reason


def test_the_counts_are_read_where_they_are_whole() -> None:
    assert chunk(usage={"prompt_tokens": 3, "completion_tokens": 2}).counts == Counts(3, 2)
    assert chunk(usage={"prompt_tokens": 3}).counts is None
    assert chunk(usage=None).counts is None
    assert chunk(usage=None).usage is None


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"error": {"message": "died", "code": 500}}, "died"),
        ({"error": "died", "error_type": "generation"}, "died"),
        ({"object": "error", "message": "died", "code": 500}, "died"),
        ({"detail": "died"}, "died"),
        ({"error": 5}, "no message"),
    ],
)
def test_an_error_in_any_shape_is_broken(event: object, words: str) -> None:
    with pytest.raises(StreamBroken, match=f"the engine reported: {words}"):
        read_chunk(json.dumps(event).encode())


def test_an_empty_error_is_none() -> None:
    assert read_chunk(b'{"error":null,"choices":[{"text":"a"}]}').text == "a"


@pytest.mark.parametrize("data", [b"{", b"[]", b"null", b'"a"', b"[" * 100_000, b'{"choices":["a"]}'])
def test_what_is_no_chunk_is_broken(data: bytes) -> None:
    with pytest.raises(StreamBroken):
        read_chunk(data)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert read_chunk(b'{"choices":[{"text":"a\xff"}]}').text == "a\ufffd"
