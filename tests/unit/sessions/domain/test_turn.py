"""What a turn tells of itself."""

from dataclasses import replace

import pytest

from sessions.domain.turn import TurnState
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
