"""The events that a stored turn ends with and is replayed as, from any place."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.events import (
    Accepted,
    Blocked,
    Cancelled,
    Delta,
    Done,
    Failed,
    characters_before,
    delta_place,
    replay,
    terminal,
    terminal_place,
)
from sessions.domain.moderation import NOTHING_FOUND, BlockReason, Judgement
from sessions.domain.turn import TurnError, TurnState
from tests.support.records_world import failed, turn


def test_a_completed_turn_is_replayed_in_one_piece() -> None:
    length = len(turn().reply)
    assert list(replay(turn())) == [
        (1, Accepted(turn().session, 1, "vllm-0")),
        (1 + length, Delta(turn().reply)),
        (2 + length, Done(turn())),
    ]


def test_a_turn_without_text_has_no_delta() -> None:
    silent = replace(turn(), state=TurnState.CANCELLED, reply="")
    assert list(replay(silent)) == [(1, Accepted(turn().session, 1, "vllm-0")), (2, Cancelled())]


def test_a_failed_turn_ends_with_its_error() -> None:
    error = TurnError("tutor_broke", "the reply did not end", retryable=False)
    assert terminal(replace(failed(turn()), error=error)) == Failed(error)


def test_a_failed_turn_without_a_stored_error_still_ends_with_one() -> None:
    end = terminal(failed(turn()))
    assert isinstance(end, Failed)
    assert end.error.retryable


def test_a_blocked_turn_ends_with_the_reason_behind_what_was_released() -> None:
    judged = Judgement(blocked=BlockReason.BANNED_PHRASE)
    blocked = replace(turn(), state=TurnState.BLOCKED, reply="So far", replica=None, moderation=judged)
    assert list(replay(blocked)) == [
        (1, Accepted(turn().session, 1, None)),
        (7, Delta("So far")),
        (8, Blocked(BlockReason.BANNED_PHRASE)),
    ]
    assert terminal(replace(blocked, moderation=NOTHING_FOUND)) == Blocked(BlockReason.UNCHECKED)


@pytest.mark.parametrize(("place", "characters"), [(0, 0), (1, 0), (2, 1), (9, 8)])
def test_a_place_tells_how_much_of_the_reply_a_reader_has(place: int, characters: int) -> None:
    assert characters_before(place) == characters


@given(st.text(max_size=20), st.integers(0, 30))
def test_whoever_goes_on_from_a_place_gets_the_rest_and_nothing_twice(reply: str, after: int) -> None:
    told = replace(turn(), reply=reply)
    seen = reply[: characters_before(after)]
    rest = list(replay(told, after=after))
    assert seen + "".join(event.text for _, event in rest if isinstance(event, Delta)) == reply
    assert all(place > after for place, _ in rest)
    assert [place for place, _ in rest] == sorted({place for place, _ in rest})
    assert bool(rest) is (after < terminal_place(len(reply)))
    assert not rest or rest[-1] == (terminal_place(len(reply)), Done(told))


@given(st.integers(0, 10_000))
def test_the_place_of_a_delta_is_what_it_completes(characters: int) -> None:
    assert characters_before(delta_place(characters)) == characters
    assert terminal_place(characters) == delta_place(characters) + 1
