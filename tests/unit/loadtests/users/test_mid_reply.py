"""What an impatient trainee does beside a reply is judged by what it was answered."""

import json
import threading
import time
from pathlib import Path

import pytest

from loadtests.domain.part import Act, Ask
from loadtests.domain.rows import Kind, Row
from loadtests.users.message import Message
from loadtests.users.session_wire import SessionWire
from tests.support.load_stage import place, rows_in, stage
from tests.support.scripted_http import Request, Scripted, scripted_http, streamed, whole


def event(at: int, number: int, name: str, **data: object) -> bytes:
    return f"id: {at}-{number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()


def reply(turn: int, text: str) -> list[bytes]:
    done = event(turn, 40, "done", finish_reason="stop")
    return [event(turn, 1, "accepted", turn=turn), event(turn, 6, "delta", text=text), done]


def acted(folder: Path, act: Act, answer: Scripted, end: bytes | None = None) -> tuple[Row, Row, list[Request]]:
    """The rows of the turn and of what was done beside it; the turn's end comes behind the other answer."""
    answered = threading.Event()
    accepted, hello, done = reply(1, "Hello")

    def later() -> bytes:
        assert answered.wait(5)
        return end or done

    def tell() -> bytes:
        answered.set()
        return b""

    beside = Scripted([*answer.parts, tell], cuts=answer.cuts)
    with scripted_http(streamed(accepted, hello, later), beside) as server:
        here = stage(folder, server.url)
        with here.caller(0) as caller:
            SessionWire(here, caller).take(place(Ask(at_s=0.0, act=act, after=1)), Message("Good morning."))
        here.book.close()
        requests = list(server.requests)
    turn, other = rows_in(folder)
    return turn, other, requests


def test_a_reply_is_cancelled_by_its_number(tmp_path: Path) -> None:
    turn, other, requests = acted(tmp_path, Act.CANCEL, whole(202, {}), end=event(1, 40, "cancelled"))
    assert (turn.kind, turn.was_cancelled) == (Kind.TURN, True)
    assert (other.kind, other.status, other.failure, other.note) == (Kind.CANCEL, 202, None, "cancel")
    assert requests[1].path == "/v1/sessions/s1/turns/1/cancel"


def test_a_cancelling_that_is_refused_has_failed(tmp_path: Path) -> None:
    _, other, _ = acted(tmp_path, Act.CANCEL, whole(404, {}))
    assert other.failure == "http_404"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (streamed(*reply(1, "Hello")), None),
        (streamed(*reply(2, "Hello")), "doubled"),
        (streamed(*reply(1, "Good day")), "doubled"),
        (whole(503, {}), None),
        (whole(500, {}), "http_500"),
    ],
)
def test_the_same_message_again_is_the_same_turn(tmp_path: Path, answer: Scripted, failure: str | None) -> None:
    turn, other, (first, second) = acted(tmp_path, Act.TWICE, answer)
    assert (turn.failure, other.kind, other.failure) == (None, Kind.RESUME, failure)
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


@pytest.mark.parametrize(
    ("answer", "failure"),
    [(whole(409, {}), None), (streamed(*reply(2, "Yes")), "let_in"), (whole(500, {}), "http_500")],
)
def test_another_message_beside_it_must_be_refused(tmp_path: Path, answer: Scripted, failure: str | None) -> None:
    turn, other, (first, second) = acted(tmp_path, Act.BESIDE, answer)
    assert (turn.failure, other.kind, other.failure) == (None, Kind.HOSTILE, failure)
    assert first.headers["idempotency-key"] != second.headers["idempotency-key"]


def test_another_message_that_came_when_the_turn_was_over_is_a_turn_like_any_other(tmp_path: Path) -> None:
    accepted, hello, done = reply(1, "Hello")

    def late() -> bytes:
        deadline = time.monotonic() + 5
        while not rows_in(tmp_path):  # the turn is over when its row is there
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return b"".join(streamed(*reply(2, "Yes")).parts)  # type: ignore[arg-type]  # bytes alone

    with scripted_http(streamed(accepted, hello, done), Scripted([late])) as server:
        here = stage(tmp_path, server.url)
        with here.caller(0) as caller:
            SessionWire(here, caller).take(place(Ask(at_s=0.0, act=Act.BESIDE, after=1)), Message("Good morning."))
        here.book.close()
    turn, other = rows_in(tmp_path)
    assert (turn.stored_as, other.stored_as) == (1, 2)
    assert (other.kind, other.failure, other.note) == (Kind.TURN, None, "beside")
