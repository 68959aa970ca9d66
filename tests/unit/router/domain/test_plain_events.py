"""Read in bulk, ordinary events say what they say one by one."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.plain_events import PlainEvents, read_plain_events

pieces = st.lists(st.tuples(st.text(), st.lists(st.integers(0, 200_000), max_size=3)), min_size=1, max_size=9)


def chat(text: str, ids: list[int] | None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None, "token_ids": ids}
    return event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


def completion(text: str, ids: list[int] | None) -> bytes:
    rest = {"logprobs": None, "finish_reason": None, "stop_reason": None, "prompt_token_ids": None, "token_ids": ids}
    choice = {"index": 0, "text": text, **rest}
    return event({"id": "c", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]})


def event(document: object) -> bytes:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return b"data: " + text.encode("utf-8", "replace") + b"\n\n"


@given(pieces, st.sampled_from([chat, completion]))
def test_texts_and_tokens_come_out_as_they_were_written(
    pieces: list[tuple[str, list[int]]], shape: Callable[[str, list[int]], bytes]
) -> None:
    read = read_plain_events(b"".join(shape(text, ids) for text, ids in pieces))
    assert read is not None
    assert read.ids is not None
    assert [*read.texts] == [text.encode("utf-8", "replace").decode() for text, _ in pieces]
    assert [*read.ids] == [ids for _, ids in pieces]


@pytest.mark.parametrize(
    "text",
    [
        '"delta":{"content":"',
        '"},"logprobs":null,"finish_reason":null,"token_ids":',
        '"text":"',
        "}]}\n\n",
        "\\",
        '\\"',
    ],
)
def test_no_text_looks_like_what_is_cut_away(text: str) -> None:
    assert read_plain_events(chat(text, [1]) + chat("b", [2])) == PlainEvents((text, "b"), ([1], [2]))


@pytest.mark.parametrize(
    "other",
    [
        b": keep-alive\n\n",
        b"data: [DONE]\n\n",
        event({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]}),
        event({"choices": [{"index": 0, "delta": {"reasoning": "a"}, "finish_reason": None}]}),
        chat("a", [1])[:-1],
        chat("a", [1]).replace(b'"a"', b"7"),
        b"",
        b"5,[],",
    ],
)
def test_another_shape_is_not_read(other: bytes) -> None:
    assert read_plain_events(other) is None
    assert read_plain_events(chat("a", [1]) + other) is None or other == b""
    assert read_plain_events(other + chat("a", [1])) is None or other == b""


def test_an_engine_may_tell_no_tokens_but_not_now_and_then() -> None:
    assert read_plain_events(chat("a", None) + chat("b", None)) == PlainEvents(("a", "b"), None)
    assert read_plain_events(chat("a", None) + chat("b", [1])) is None
