"""What is heard of a turn, line by line."""

import json

import pytest

from loadtests.domain.hearing import Hearing, TurnOutcome

USAGE = {"prompt_tokens": 100, "cached_tokens": 80, "completion_tokens": 3}


def event(name: str, **data: object) -> list[bytes]:
    return [f"id: 1-1\nevent: {name}".encode(), *f"data: {json.dumps(data)}".encode().split(b"\n"), b""]


def heard(*events: list[bytes], step_s: float = 0.1) -> TurnOutcome:
    hearing, at = Hearing(), 0.0
    for lines in events:
        at += step_s
        for line in b"\n".join(lines).split(b"\n"):
            hearing.line(line, at=at)
    return hearing.outcome(at=at)


def test_a_whole_turn_has_its_figures() -> None:
    outcome = heard(
        event("accepted", turn=4, replica="replica-1"),
        [b": heartbeat", b""],
        event("delta", text="Hello"),
        event("delta", text=" there"),
        event("delta", text="."),
        event("done", turn=4, usage=USAGE, replica="replica-2"),
    )
    assert (outcome.turn, outcome.replica, outcome.failure, outcome.pieces) == (4, "replica-2", None, 3)
    assert outcome.ttft_s == pytest.approx(0.3)
    assert outcome.tpot_s == pytest.approx(0.1)
    assert outcome.total_s == pytest.approx(0.6)
    assert (outcome.prompt_tokens, outcome.cached_tokens, outcome.completion_tokens) == (100, 80, 3)


def test_a_delta_without_text_is_no_first_text() -> None:
    assert heard(event("delta", text=""), event("done", usage=USAGE)).ttft_s is None


@pytest.mark.parametrize(
    ("events", "failure"),
    [
        ([event("accepted", turn=1)], "no_end"),
        ([event("error", code="tutor_broke", message="", retryable=True)], "tutor_broke"),
        ([event("cancelled")], "cancelled"),
        ([event("blocked", reason="x")], "blocked"),
        ([[b"event: delta", b"data: {", b""], event("done", usage=USAGE)], "malformed"),
    ],
)
def test_every_other_end_is_a_failure_with_a_name(events: list[list[bytes]], failure: str) -> None:
    assert heard(*events).failure == failure


def test_what_the_connection_did_counts_unless_the_stream_said_more() -> None:
    hearing = Hearing()
    assert hearing.outcome(at=1, failure="ConnectionResetError").failure == "ConnectionResetError"
    for line in b"\n".join(event("error", code="tutor_broke")).split(b"\n"):
        hearing.line(line, at=1)
    assert hearing.is_over
    assert hearing.outcome(at=1, failure="ConnectionResetError").failure == "tutor_broke"


def test_lines_may_end_in_crlf_and_unknown_events_say_nothing() -> None:
    hearing = Hearing()
    for line in (b"event: done\r", b"data: {}\r", b"\r", b"event: news\r", b"data: {}\r", b"retry: 5\r"):
        hearing.line(line, at=1)
    outcome = hearing.outcome(at=1)
    assert (outcome.failure, outcome.completion_tokens, outcome.tpot_s) == (None, 0, None)
