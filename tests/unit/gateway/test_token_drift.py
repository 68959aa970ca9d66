"""A replica that counts otherwise is seen, told once, and no reason to stop."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
import structlog
from structlog.testing import LogCapture

from gateway.token_drift import TokenDrift
from sessions.domain.session import SessionId
from sessions.domain.turn import Turn, TurnState, Usage
from tests.support.session_fakes import START

TURN = Turn(
    session=SessionId(uuid4()),
    number=3,
    state=TurnState.COMPLETED,
    text="What the trainee said",
    reply="What the tutor said",
    started_at=START,
    ended_at=START,
    text_tokens=4,
    reply_tokens=4,
    usage=Usage(prompt_tokens=100),
    replica="replica-1",
)


@pytest.fixture
def log() -> Iterator[LogCapture]:
    capture, before = LogCapture(), structlog.get_config()
    structlog.configure(processors=[capture])
    yield capture
    structlog.configure(**before)


@pytest.fixture
def drift() -> TokenDrift:
    return TokenDrift(counted_by="tiktoken")


def test_equal_counts_are_an_agreement(drift: TokenDrift) -> None:
    assert drift.agreement().detail == "no turn compared yet; counted by tiktoken"
    drift.compare(TURN, 100)
    assert drift.agreement().ok
    assert drift.agreement().detail == "the last 1 turns agree; counted by tiktoken"
    assert (drift.counters(), drift.gauges()) == ({"token_drift": 0}, {"token_drift_last": 0})


def test_a_difference_is_counted_and_shown(drift: TokenDrift, log: LogCapture) -> None:
    drift.compare(TURN, 100)
    drift.compare(TURN, 103)
    assert not drift.agreement().ok
    assert drift.agreement().detail.startswith("1 of the last 2 turns differ, the latest by -3 at replica-1")
    assert (drift.counters(), drift.gauges()) == ({"token_drift": 1}, {"token_drift_last": -3})
    assert len(log.entries) == 1


def test_each_cause_is_told_once_and_by_ids_alone(drift: TokenDrift, log: LogCapture) -> None:
    for turn, counted in ((TURN, 99), (TURN, 99), (TURN, 98), (replace(TURN, replica="replica-2"), 99)):
        drift.compare(turn, counted)
    assert [(entry["replica"], entry["difference"]) for entry in log.entries] == [
        ("replica-1", 1),
        ("replica-1", 2),
        ("replica-2", 1),
    ]
    assert "said" not in str(log.entries)
    assert log.entries[0]["session"] == str(TURN.session)


def test_causes_without_end_are_not_all_told(drift: TokenDrift, log: LogCapture) -> None:
    for difference in range(1, 400):
        drift.compare(TURN, 100 + difference)
    assert len(log.entries) == 256
    assert drift.counters() == {"token_drift": 399}


@pytest.mark.parametrize(
    "turn",
    [
        replace(TURN, usage=Usage()),
        replace(TURN, state=TurnState.CANCELLED),
        replace(TURN, state=TurnState.FAILED),
        replace(TURN, continued=True),
    ],
)
def test_of_some_turns_nothing_can_be_said(drift: TokenDrift, turn: Turn) -> None:
    drift.compare(turn, 1)
    assert drift.agreement().detail.startswith("no turn compared yet")


@pytest.mark.usefixtures("log")
def test_the_alarm_ends_after_a_thousand_turns_that_agree(drift: TokenDrift) -> None:
    drift.compare(TURN, 99)
    for _ in range(999):
        drift.compare(TURN, 100)
    assert not drift.agreement().ok
    drift.compare(TURN, 100)
    assert drift.agreement().ok
    assert drift.counters() == {"token_drift": 1}
