"""What is heard of a streamed chat completion."""

import json

import pytest

from loadtests.domain.chat_hearing import ChatHearing
from loadtests.domain.heard import Heard


def chunk(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def usage(**details: object) -> dict[str, object]:
    told = {"prompt_tokens": 50, "completion_tokens": 2, "prompt_tokens_details": details or None}
    return {"choices": [], "usage": told}


def hearing_of(*chunks: dict[str, object] | bytes, done: bool = True) -> ChatHearing:
    hearing, at = ChatHearing(), 0.0
    hearing.replica = "replica-1"
    for each in chunks:
        at += 0.1
        hearing.line(each if isinstance(each, bytes) else f"data: {json.dumps(each)}".encode(), at=at)
        hearing.line(b"", at=at)
    if done:
        hearing.line(b"data: [DONE]\r", at=at)
    return hearing


def heard(*chunks: dict[str, object] | bytes, done: bool = True) -> Heard:
    return hearing_of(*chunks, done=done).heard()


def test_a_whole_chat_has_its_figures() -> None:
    found = heard(
        chunk(role="assistant", content=""),
        b": a comment",
        chunk(content="Good"),
        chunk(content=" day"),
        chunk("stop"),
        usage(cached_tokens=32),
    )
    assert (found.text, found.finish, found.failure, found.replica) == ("Good day", "stop", None, "replica-1")
    assert [found.first_at, found.last_at, found.pieces] == pytest.approx([0.3, 0.4, 2])
    assert (found.prompt_tokens, found.cached_tokens, found.completion_tokens) == (50, 32, 2)


def test_a_server_that_does_not_tell_cached_tokens_is_not_taken_to_have_none() -> None:
    assert heard(chunk("stop", content="x"), usage()).cached_tokens is None
    assert heard(chunk("stop", content="x")).cached_tokens is None


@pytest.mark.parametrize(
    "delta", [{"reasoning": "Hm"}, {"reasoning_content": "Hm"}, {"tool_calls": [{"function": {"name": "f"}}]}]
)
def test_reasoning_and_calls_of_tools_are_text_but_no_part_of_the_answer(delta: dict[str, object]) -> None:
    reasoned: dict[str, object] = {"choices": [{"delta": delta}]}
    hearing = hearing_of(reasoned, chunk("stop", content="Yes"))
    assert hearing.heard().first_at == pytest.approx(0.1)
    assert hearing.heard().text.endswith("Yes")
    assert hearing.answer == "Yes"


@pytest.mark.parametrize(
    ("chunks", "done", "failure"),
    [
        ([chunk(content="x")], False, "no_end"),
        ([chunk(content="x")], True, "no_finish"),
        ([chunk("stop", content="x")], False, "no_end"),
        ([chunk("stop", content="x"), b"data: [DONE]", chunk(content="y")], True, "malformed"),
        ([b"data: " + b"[" * 100_000], True, "malformed"),
        ([chunk("stop")], True, "empty"),
        ([chunk("content_filter", content="x")], True, "moderated"),
        ([b"data: {"], True, "malformed"),
        ([b"data: 7"], True, "malformed"),
        ([{"error": {"code": "engine_died"}}], True, "engine_died"),
        ([{"error": {"code": "[/] no word"}}], True, "_no_word"),
        ([{"error": {"type": "server_error"}}], False, "server_error"),
        ([{"error": "boom"}], False, "error"),
        ([{"choices": ["?"]}, {"choices": [{"delta": None}]}], True, "no_finish"),
    ],
)
def test_every_other_end_is_a_failure_with_a_name(
    chunks: list[dict[str, object] | bytes], done: bool, failure: str
) -> None:
    assert heard(*chunks, done=done).failure == failure


def test_what_the_connection_did_counts_unless_the_stream_said_more() -> None:
    assert hearing_of(chunk(content="x"), done=False).heard(failure="lost").failure == "lost"


def test_a_trainee_who_goes_away_has_not_failed() -> None:
    hearing = hearing_of(chunk(content="x"), done=False)
    assert hearing.heard().failure == "no_end"
    hearing.stop()
    assert hearing.is_over
    assert (hearing.heard().finish, hearing.heard().failure) == ("cancelled", None)
