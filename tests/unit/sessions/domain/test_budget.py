"""How the window is shared, and when the tail is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.budget import SYSTEM_TOKENS, TEMPLATE_TOKENS, Shares, TurnCost, cut, fitting
from sessions.errors import ContextImpossible

SHARES = Shares(window=4096, reply=256, message=768, script=1000, opening=200)

costs = st.builds(
    lambda message, reply, remembered: TurnCost(message, message + reply if remembered else 0),
    st.integers(1, 60),
    st.integers(1, 60),
    st.booleans(),
)
talks = st.lists(costs, max_size=60)
rooms = st.integers(60, 400)
messages = st.integers(1, 60)


def _tail(talk: list[TurnCost], start: int) -> int:
    return sum(cost.kept for cost in talk[start:])


def test_the_fixed_part_is_the_sum_of_its_blocks() -> None:
    assert SHARES.fixed == SYSTEM_TOKENS + 1000 + 200 + 768 + 256 + TEMPLATE_TOKENS
    assert str(SHARES.fixed) in SHARES.arithmetic


def test_the_limits_of_blocks_are_their_shares() -> None:
    limits = SHARES.blocks
    assert (limits.system, limits.script, limits.opening, limits.reply) == (SYSTEM_TOKENS, 1000, 200, 256)


def test_shares_that_leave_an_eighth_for_the_talk_fit() -> None:
    assert fitting(SHARES) is SHARES
    exactly = Shares(window=3136, reply=256, message=768, script=956, opening=200)
    assert exactly.window - exactly.fixed == exactly.window // 8
    assert fitting(exactly) is exactly


def test_shares_that_leave_less_are_refused_with_the_arithmetic() -> None:
    with pytest.raises(ContextImpossible, match=r"window of 3000 tokens leaves 212 .* 375 .*= 2788"):
        fitting(Shares(window=3000, reply=256, message=768, script=1000, opening=200))


def test_a_talk_with_room_is_not_cut() -> None:
    assert cut([], 10, room=100) == 0
    assert cut([TurnCost(10, 30)] * 3, 10, room=100) == 0


def test_a_full_tail_is_cut_to_half_at_once() -> None:
    # The fourth turn's message brings 90 + 20 tokens; of the three turns before it only the last may stay.
    assert cut([TurnCost(10, 30)] * 3, 20, room=100) == 2


def test_after_a_cut_the_tail_grows_again_before_the_next() -> None:
    starts = [cut([TurnCost(10, 30)] * turns, 10, room=100) for turns in range(12)]
    assert starts == sorted(starts)
    assert len(set(starts)) < len(starts) // 2


def test_turns_that_are_not_remembered_take_no_room() -> None:
    assert cut([TurnCost(50, 0)] * 50, 50, room=100) == 0


@given(talks, messages, rooms)
def test_what_is_kept_fits_with_the_message(talk: list[TurnCost], message: int, room: int) -> None:
    assert _tail(talk, cut(talk, message, room=room)) + message <= room


@given(talks, messages, rooms)
def test_the_prompt_only_grows_between_cuts(talk: list[TurnCost], message: int, room: int) -> None:
    starts = [cut(talk[:turns], talk[turns].message, room=room) for turns in range(len(talk))]
    starts.append(cut(talk, message, room=room))
    assert starts == sorted(starts)
    assert all(start <= turns for turns, start in enumerate(starts))


@given(talks, messages, rooms)
def test_a_cut_is_deep(talk: list[TurnCost], message: int, room: int) -> None:
    asked = [*(cost.message for cost in talk), message]
    for turns in range(1, len(asked)):
        before = cut(talk[: turns - 1], asked[turns - 1], room=room)
        now = cut(talk[:turns], asked[turns], room=room)
        if now > before:
            assert _tail(talk[:turns], now) + asked[turns] <= room // 2 or now == turns


@given(talks, messages, rooms, rooms)
def test_the_cut_of_an_earlier_turn_does_not_depend_on_later_ones(
    talk: list[TurnCost], message: int, room: int, later: int
) -> None:
    half = talk[: len(talk) // 2]
    once = cut(half, message, room=room)
    cut(talk, later, room=room)
    assert cut(half, message, room=room) == once
