"""Chat completions as they go over the wire."""

import json

from loadtests.overhead.answer import HeardAnswer
from loadtests.overhead.chat_speech import ChatSpeech, request
from loadtests.overhead.load import Course
from loadtests.overhead.wire import stream, whole

STREAMED = Course("streamed", 1, 1, chunks=50)


def test_a_request_is_what_it_says() -> None:
    head, _, body = request(7, "x-key", STREAMED, 200).partition(b"\r\n\r\n")
    assert b"\r\nx-key: session-0007\r\n" in head
    assert f"content-length: {len(body)}".encode() in head
    asked = json.loads(body)
    assert (asked["stream"], asked["max_tokens"], len(asked["messages"][1]["content"])) == (True, 50, 200)
    assert not HeardAnswer().feed(head, 1)


def test_a_session_says_the_same_each_time_and_is_told_from_others() -> None:
    speech = ChatSpeech(STREAMED, header="x-key", body_bytes=50)
    assert speech.request(3) == speech.request(3) != speech.request(4)
    assert speech.sessions == 1_000


def test_whole_answers_and_streams_are_held_against_what_was_asked_for() -> None:
    made = stream(1, has_token_ids=False)
    streamed = made.start + made.piece(5) + made.end
    one, fifty = (ChatSpeech(Course("", 1, 1, chunks=chunks), header="x", body_bytes=9) for chunks in (1, 50))
    assert (one.fault(streamed), one.replica(streamed), one.lateness_ns(streamed, 7)) == (None, b"1", [2])
    assert one.mark in streamed
    assert fifty.fault(streamed) == "1 of 50 pieces, or no end"
    assert ChatSpeech(Course("", 1, 1), header="x", body_bytes=9).fault(whole(0)) is None
