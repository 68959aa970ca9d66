"""What a turn tells of itself."""

from dataclasses import replace

import pytest

from sessions.domain.turn import IdempotencyKey, TurnState
from sessions.errors import IdempotencyKeyReused
from tests.support.records_world import turn


@pytest.mark.parametrize(
    ("state", "reply", "remembered"),
    [
        (TurnState.COMPLETED, "a reply", True),
        (TurnState.CANCELLED, "half a re", True),
        (TurnState.CANCELLED, "", False),
        (TurnState.COMPLETED, "", False),
        (TurnState.FAILED, "half a re", False),
        (TurnState.FAILED, "", False),
    ],
)
def test_a_turn_is_remembered_when_it_was_answered_and_did_not_fail(
    state: TurnState, reply: str, remembered: bool
) -> None:
    assert replace(turn(), state=state, reply=reply).is_remembered is remembered


def test_one_key_and_one_content_is_the_same_request() -> None:
    assert IdempotencyKey("turn-1", "aa").repeats(IdempotencyKey("turn-1", "aa"))


def test_another_key_is_another_request_whatever_it_asks() -> None:
    assert not IdempotencyKey("turn-2", "aa").repeats(IdempotencyKey("turn-1", "aa"))


def test_one_key_for_two_contents_is_refused() -> None:
    with pytest.raises(IdempotencyKeyReused):
        IdempotencyKey("turn-1", "bb").repeats(IdempotencyKey("turn-1", "aa"))
