"""Which turns were cold, and why."""

from dataclasses import replace
from typing import Any

import pytest

from loadtests.domain.affinity import Trouble
from loadtests.domain.figures import ColdReason
from loadtests.domain.rows import Row
from loadtests.domain.warmth import BLOCK_TOKENS, cold_reasons
from tests.support.load_rows import a_failed_turn, a_session, a_turn

FIRST = a_turn(1, prompt_tokens=1000, completion_tokens=32)


def second(cached: int | None, *, prompt: int = 1100, **changes: Any) -> Row:
    return a_turn(2, prompt_tokens=prompt, cached_tokens=cached, **changes)


def test_a_session_that_stays_where_it_is_is_warm() -> None:
    assert cold_reasons(a_session(5)) == [None] * 4


def test_a_first_turn_is_neither() -> None:
    assert cold_reasons([FIRST]) == []
    assert cold_reasons([]) == []


@pytest.mark.parametrize(("cached", "is_cold"), [(500, False), (499, True), (0, True), (1000, False)])
def test_less_than_half_of_what_should_be_there_is_cold(cached: int, *, is_cold: bool) -> None:
    assert FIRST.prompt_tokens + FIRST.completion_tokens - BLOCK_TOKENS == 1000
    assert (cold_reasons([FIRST, second(cached)]) == [ColdReason.EVICTED]) is is_cold


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (second(0, replica="replica-2"), ColdReason.MOVED),
        (second(0, replica="replica-2", prompt=400), ColdReason.MOVED),
        (second(0, prompt=400), ColdReason.FOLDED),
        (second(0), ColdReason.EVICTED),
        (second(0, replica=None), ColdReason.EVICTED),
        (second(None), ColdReason.UNTOLD),
    ],
)
def test_each_cold_turn_has_its_reason(turn: Row, reason: ColdReason) -> None:
    assert cold_reasons([FIRST, turn]) == [reason]


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Trouble("replica-1", 5.0, 8.0), ColdReason.LOST),
        (Trouble("replica-2", 5.0, 8.0), ColdReason.EVICTED),
        (Trouble("replica-1", -9.0, -5.0), ColdReason.EVICTED),
    ],
)
def test_a_replica_that_was_broken_in_between_has_lost_its_cache(trouble: Trouble, reason: ColdReason) -> None:
    after = second(0, at_s=10.0)
    assert cold_reasons([FIRST, after], known=[trouble]) == [reason]
    assert cold_reasons([FIRST, second(1000, at_s=10.0)], known=[trouble]) == [None]
    assert cold_reasons([FIRST, second(0, at_s=10.0, replica="replica-3")], known=[trouble]) == [ColdReason.MOVED]


def test_a_folded_prompt_that_was_prewarmed_is_warm() -> None:
    """It cannot find more than itself, however long the one before was."""
    assert cold_reasons([FIRST, second(370, prompt=400)]) == [None]


def test_a_prompt_of_which_nothing_can_be_cached_is_not_called_cold() -> None:
    assert cold_reasons([replace(FIRST, prompt_tokens=20, completion_tokens=5), second(0, prompt=60)]) == [None]


def test_a_client_that_cuts_its_history_changes_the_prefix() -> None:
    turns = [FIRST, second(0), a_turn(3, prompt_tokens=1200)]
    assert cold_reasons(turns, history=4) == [ColdReason.EVICTED, ColdReason.FOLDED]


def test_a_history_that_still_fits_is_not_cut() -> None:
    """The second turn sends three messages: two of the trainee, and one reply."""
    assert cold_reasons([FIRST, second(0)], history=3) == [ColdReason.EVICTED]
    assert cold_reasons([FIRST, second(0)], history=2) == [ColdReason.FOLDED]


def test_a_turn_whose_prompt_is_not_told_says_nothing() -> None:
    assert cold_reasons([FIRST, second(0, prompt=0), a_turn(3, prompt_tokens=1100, cached_tokens=900)]) == [None]
    assert cold_reasons([replace(FIRST, prompt_tokens=0), second(0)]) == []


def test_what_failed_says_nothing_and_the_turn_after_it_is_held_against_the_one_before() -> None:
    failed = a_failed_turn(2)
    assert cold_reasons([FIRST, failed, second(0)]) == [ColdReason.EVICTED]
    assert cold_reasons([FIRST, failed, second(900)]) == [None]
