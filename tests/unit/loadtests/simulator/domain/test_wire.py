"""Shapes that depend on the kind of answer; the recordings judge the whole (tests/contract/simulator)."""

from dataclasses import replace

import pytest

from loadtests.simulator.domain.wire import (
    Head,
    Kind,
    Moments,
    Piece,
    Usage,
    chat_message,
    completion_text,
    error_body,
)

USAGE = Usage(prompt_tokens=10, completion_tokens=4, cached_tokens=3, created_cache_tokens=5)
MOMENTS = Moments(time_to_first_token_ms=1, generation_time_ms=2, queue_time_ms=3, mean_itl_ms=4, tokens_per_second=5)
CHAT = Head(kind=Kind.CHAT, id="chatcmpl-1", created=1, model="m", fingerprint="f", details=True)
COMPLETION = replace(CHAT, kind=Kind.COMPLETION, id="cmpl-1")
TEXT = Piece(index=0, text="hi")
FINISH = replace(TEXT, finish_reason="stop")


def test_ids_begin_as_their_kind_says() -> None:
    assert (Kind.CHAT.prefix, Kind.COMPLETION.prefix) == ("chatcmpl-", "cmpl-")


def test_only_a_finish_chunk_tells_what_stopped_it() -> None:
    choices = [CHAT.text_chunk(piece, usage=None, is_last=True)["choices"] for piece in (TEXT, FINISH)]
    assert ["stop_reason" in str(choice) for choice in choices] == [False, True]


@pytest.mark.parametrize(("piece", "is_last", "expected"), [(TEXT, True, 0), (FINISH, True, 1), (FINISH, False, 0)])
def test_the_fingerprint_rides_in_the_last_finish_chunk(piece: Piece, is_last: bool, expected: int) -> None:
    assert ("system_fingerprint" in CHAT.text_chunk(piece, usage=None, is_last=is_last)) == bool(expected)


def test_a_role_chunk_holds_the_prompt_it_was_asked_for() -> None:
    chunk = CHAT.role_chunk(index=1, role="user", prompt_token_ids=[1, 2], usage=USAGE)
    assert chunk["prompt_token_ids"] == [1, 2]
    assert chunk["usage"] == {**USAGE.counts, "completion_tokens_details": None}


def test_a_completion_says_nothing_of_created_blocks() -> None:
    chunk, body = COMPLETION.usage_chunk(USAGE, None), COMPLETION.body([], USAGE, None)
    assert chunk["usage"] == {**USAGE.counts, "prompt_tokens_details": {"cached_tokens": 3}}
    assert "'created_cache_tokens': None" in str(body["usage"])
    assert body["object"] == "text_completion"


def test_a_chat_tells_cached_and_created_tokens() -> None:
    details = {"cached_tokens": 3, "created_cache_tokens": 5}
    assert CHAT.usage_chunk(USAGE, None)["usage"] == {**USAGE.counts, "prompt_tokens_details": details}


def test_without_the_flag_there_are_no_details() -> None:
    bare = replace(CHAT, details=False)
    assert bare.usage_chunk(USAGE, None)["usage"] == USAGE.counts
    assert "'prompt_tokens_details': None" in str(bare.body([], USAGE, None)["usage"])


def test_measurements_are_told_where_they_are_asked_for() -> None:
    assert CHAT.usage_chunk(USAGE, MOMENTS)["metrics"] == MOMENTS.document
    assert CHAT.body([], USAGE, MOMENTS)["metrics"] == {**MOMENTS.document, "speculative_decoding": None}


def test_choices_of_bodies_carry_their_text() -> None:
    assert chat_message(FINISH, role="assistant")["finish_reason"] == "stop"
    assert completion_text(replace(FINISH, prompt_token_ids=[1]))["prompt_token_ids"] == [1]
    completion = COMPLETION.text_chunk(FINISH, usage=None, is_last=False)["choices"]
    assert "'text': 'hi'" in str(completion)


def test_a_completion_counts_in_its_chunks_without_details() -> None:
    assert COMPLETION.text_chunk(TEXT, usage=USAGE, is_last=False)["usage"] == USAGE.counts


def test_an_echo_is_text_without_token_ids() -> None:
    assert "token_ids" not in str(CHAT.echo_chunk(index=0, text="said before"))


def test_an_error_repeats_its_status() -> None:
    expected = {"error": {"message": "no", "type": "BadRequestError", "param": "n", "code": 400}}
    assert error_body(400, "no", kind="BadRequestError", param="n") == expected
