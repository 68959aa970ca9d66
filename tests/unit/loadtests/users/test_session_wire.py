"""A turn is taken as a careful client takes it, and its row tells all of it."""

import json
from pathlib import Path

import pytest

from loadtests.domain.heard import digest_of
from loadtests.domain.part import Act, Ask
from loadtests.domain.rows import Kind, Row
from loadtests.users.message import Message
from loadtests.users.session_wire import SessionWire
from tests.support.load_stage import place, rows_in, stage
from tests.support.scripted_http import Scripted, ScriptedHttp, scripted_http, streamed, whole

USAGE = {"prompt_tokens": 9, "cached_tokens": 4, "completion_tokens": 2}


def event(number: int, name: str, **data: object) -> bytes:
    return f"id: 1-{number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()


ACCEPTED = event(1, "accepted", turn=1, replica="r1")
HELLO = event(6, "delta", text="Hello")
THERE = event(12, "delta", text=" there")
DONE = event(13, "done", finish_reason="stop", usage=USAGE, replica="r1")


def taken(
    folder: Path, *answers: Scripted, ask: Ask | None = None, timeout_s: float = 10.0
) -> tuple[list[Row], ScriptedHttp]:
    with scripted_http(*answers) as server:
        here = stage(folder, server.url, timeout_s=timeout_s)
        with here.caller(0) as caller:
            SessionWire(here, caller).take(place(ask), Message("Good morning.", "by_letters"))
        here.book.close()
    return rows_in(folder), server


def test_a_whole_turn_is_one_row(tmp_path: Path) -> None:
    (row,), server = taken(tmp_path, streamed(ACCEPTED, HELLO, THERE, DONE))
    assert (row.kind, row.turn, row.stored_as, row.replica, row.finish) == (Kind.TURN, 1, 1, "r1", "stop")
    assert (row.failure, row.attempts, row.status, row.note) == (None, 1, 200, "by_letters")
    assert (row.pieces, row.text_digest) == (2, digest_of("Hello there"))
    assert (row.prompt_tokens, row.cached_tokens, row.completion_tokens) == (9, 4, 2)
    assert row.first_s is not None
    assert row.last_s is not None
    assert 0 <= row.started_s < row.first_s <= row.last_s <= row.ended_s
    (request,) = server.requests
    assert (request.path, request.content) == ("/v1/sessions/s1/turns", {"text": "Good morning."})
    assert request.headers["idempotency-key"]


def test_what_is_refused_for_a_moment_is_asked_again_under_the_same_key(tmp_path: Path) -> None:
    busy = whole(409, {"code": "session_busy"}, Retry_After=0)
    away = whole(503, {"code": "no_replica"}, Retry_After=0)
    (row,), server = taken(tmp_path, busy, away, streamed(ACCEPTED, HELLO, DONE))
    assert (row.failure, row.attempts, row.status) == (None, 3, 200)
    assert row.note == "by_letters session_busy no_replica"
    assert len({request.headers["idempotency-key"] for request in server.requests}) == 1


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (whole(500, {"code": "internal_error"}, Retry_After=0), "http_500"),
        (whole(409, {"code": "turn_limit_reached"}), "http_409"),
        (whole(400, {"code": "content_blocked"}), "moderated"),
        (whole(404, "nothing"), "http_404"),
    ],
)
def test_what_is_refused_for_good_has_failed(tmp_path: Path, answer: Scripted, failure: str) -> None:
    (row,), _ = taken(tmp_path, answer)
    assert (row.failure, row.attempts, row.first_s) == (failure, 1, None)


def test_a_turn_of_which_nothing_was_heard_is_sent_again(tmp_path: Path) -> None:
    (row,), server = taken(tmp_path, streamed(cuts=True), streamed(ACCEPTED, HELLO, DONE))
    assert (row.failure, row.attempts, row.note) == (None, 2, "by_letters lost")
    assert [request.method for request in server.requests] == ["POST", "POST"]


def test_a_lost_stream_is_read_on_and_the_rest_has_a_row_of_its_own(tmp_path: Path) -> None:
    rows, server = taken(tmp_path, streamed(ACCEPTED, HELLO, cuts=True), streamed(THERE, DONE))
    resume, turn = sorted(rows, key=lambda row: row.kind)
    assert (turn.kind, turn.failure, turn.text_digest) == (Kind.TURN, None, digest_of("Hello there"))
    assert (resume.kind, resume.failure, resume.status) == (Kind.RESUME, None, 200)
    assert (server.requests[1].path, server.requests[1].headers["last-event-id"]) == (
        "/v1/sessions/s1/turns/1/events",
        "1-6",
    )
    assert turn.started_s < resume.started_s


def test_a_browser_that_loses_its_stream_reads_on_where_it_was(tmp_path: Path) -> None:
    ask = Ask(at_s=0.0, act=Act.CUT, after=1)
    rows, server = taken(tmp_path, streamed(ACCEPTED, HELLO, THERE, DONE), streamed(THERE, DONE), ask=ask)
    turn = next(row for row in rows if row.kind is Kind.TURN)
    assert (turn.failure, turn.text_digest, turn.note) == (None, digest_of("Hello there"), "by_letters cut")
    assert server.requests[1].headers["last-event-id"] == "1-6"


def test_an_event_that_comes_twice_behind_a_lost_stream_is_seen(tmp_path: Path) -> None:
    rows, _ = taken(tmp_path, streamed(ACCEPTED, HELLO, cuts=True), streamed(HELLO, THERE, DONE))
    assert next(row for row in rows if row.kind is Kind.TURN).failure == "event_again"


def test_a_turn_that_cannot_be_read_on_has_failed(tmp_path: Path) -> None:
    rows, _ = taken(tmp_path, streamed(ACCEPTED, HELLO, cuts=True), whole(404, {"code": "turn_not_found"}))
    assert {(row.kind, row.failure) for row in rows} == {(Kind.TURN, "http_404"), (Kind.RESUME, "http_404")}


def test_who_waits_too_long_has_failed_and_what_was_heard_is_kept(tmp_path: Path) -> None:
    waiting = whole(503, {"code": "no_replica"}, Retry_After=5)
    (row,), _ = taken(tmp_path, waiting, timeout_s=0.2)
    assert (row.failure, row.note) == ("timeout", "by_letters no_replica")
    assert 0.2 <= row.ended_s - row.started_s < 2


def test_a_reply_that_broke_is_a_failure_and_not_tried_again(tmp_path: Path) -> None:
    (row,), _ = taken(tmp_path, streamed(ACCEPTED, HELLO, event(7, "error", code="tutor_broke", retryable=True)))
    assert (row.failure, row.attempts) == ("tutor_broke", 1)
