"""What is heard of a turn of a session, line by line, over one connection or several."""

import json

import pytest

from loadtests.domain.heard import Heard, digest_of
from loadtests.domain.hearing import Hearing

USAGE = {"prompt_tokens": 100, "cached_tokens": 80, "completion_tokens": 3}
DONE = {"turn": 4, "finish_reason": "stop", "usage": USAGE, "replica": "replica-2", "continued": True}


def event(place: int, name: str, **data: object) -> list[bytes]:
    return [f"id: 4-{place}".encode(), f"event: {name}".encode(), f"data: {json.dumps(data)}".encode(), b""]


def hear(hearing: Hearing, *events: list[bytes], at: float = 0.0, step_s: float = 0.1) -> None:
    for lines in events:
        at += step_s
        for line in lines:
            hearing.line(line, at=at)


def heard(*events: list[bytes]) -> Heard:
    hearing = Hearing()
    hear(hearing, *events)
    return hearing.heard()


def test_a_whole_turn_has_its_figures() -> None:
    found = heard(
        event(1, "accepted", turn=4, replica="replica-1"),
        [b": heartbeat", b""],
        event(6, "delta", text="Hello"),
        event(12, "delta", text=" there"),
        event(13, "delta", text="."),
        event(14, "done", **DONE),
    )
    assert (found.stored_as, found.replica, found.continued, found.pieces) == (4, "replica-2", True, 3)
    assert (found.text, found.digest) == ("Hello there.", digest_of("Hello there."))
    assert (found.finish, found.failure, found.is_retryable) == ("stop", None, False)
    assert [found.first_at, found.last_at] == pytest.approx([0.3, 0.5])
    assert list(found.gaps_s) == pytest.approx([0.1, 0.1])
    assert (found.prompt_tokens, found.cached_tokens, found.completion_tokens) == (100, 80, 3)


def test_a_delta_without_text_is_no_first_text() -> None:
    found = heard(event(1, "delta", text=""), event(2, "delta", text="x"), event(3, "done", **DONE))
    assert found.first_at == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("events", "failure"),
    [
        ([event(1, "accepted", turn=1)], "no_end"),
        ([event(1, "delta", text="x"), event(2, "done", **DONE), event(3, "delta", text="y")], "malformed"),
        ([event(1, "error", code="tutor_broke", message="", retryable=True)], "tutor_broke"),
        ([event(1, "error")], "error"),
        ([event(1, "error", code=["[/]"])], "_"),
        ([event(1, "blocked", reason="x")], "moderated"),
        ([event(1, "done", usage=USAGE)], "no_finish"),
        ([event(1, "done", **DONE)], "empty"),
        ([[b"event: delta", b"data: {", b""], event(1, "done", **DONE)], "malformed"),
        ([[b"event: delta", b"data: 7", b""]], "malformed"),
        ([event(3, "delta", text="a"), event(3, "delta", text="a"), event(4, "done", **DONE)], "event_again"),
        ([event(3, "delta", text="a"), event(2, "done", **DONE)], "event_again"),
    ],
)
def test_every_other_end_is_a_failure_with_a_name(events: list[list[bytes]], failure: str) -> None:
    assert heard(*events).failure == failure


def test_a_turn_that_its_trainee_stopped_has_not_failed() -> None:
    found = heard(event(1, "accepted", turn=4), event(5, "delta", text="Well"), event(6, "cancelled"))
    assert (found.finish, found.failure, found.text) == ("cancelled", None, "Well")


def test_the_server_says_what_may_be_sent_again() -> None:
    assert heard(event(1, "error", code="turn_lost", retryable=True)).is_retryable


def test_a_lost_stream_is_read_on_from_its_last_event() -> None:
    hearing = Hearing()
    assert hearing.last_event == ""
    hear(hearing, event(1, "accepted", turn=4), event(6, "delta", text="Hello"))
    assert hearing.last_event == "4-6"
    hear(hearing, event(12, "delta", text=" there"), event(13, "done", **DONE), at=5.0)
    found = hearing.heard()
    assert (hearing.turn, found.failure, found.text) == (4, None, "Hello there")
    assert list(found.gaps_s) == pytest.approx([4.9])


def test_what_the_connection_did_counts_unless_the_stream_said_more() -> None:
    hearing = Hearing()
    assert hearing.heard(failure="lost").failure == "lost"
    hear(hearing, event(1, "error", code="tutor_broke"))
    assert hearing.is_over
    assert hearing.heard(failure="lost").failure == "tutor_broke"


def test_a_server_that_does_not_tell_cached_tokens_is_not_taken_to_have_none() -> None:
    assert heard(event(1, "done", finish_reason="stop", usage={"prompt_tokens": 9})).cached_tokens is None


def test_lines_may_end_in_crlf_and_unknown_events_say_nothing() -> None:
    hearing = Hearing()
    done = b'data: {"finish_reason": "stop"}\r'
    for line in (
        b"event: delta\r",
        b'data: {"text": "x"}\r',
        b"event: done\r",
        done,
        b"\r",
        b"event: news\r",
        b"data: {}\r",
    ):
        hearing.line(line, at=1)
    assert (hearing.heard().failure, hearing.heard().completion_tokens) == (None, 0)


def test_a_place_of_another_kind_is_not_told() -> None:
    found = heard(event(1, "accepted", turn="4", replica={"id": 7}))
    assert (found.stored_as, found.replica) == (None, "{'id': 7}")
