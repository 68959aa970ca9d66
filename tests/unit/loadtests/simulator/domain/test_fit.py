"""Finds the costs that explain measured times best."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.fit import FirstToken, NotEnoughMeasured, Pace, fit_decode, fit_prefill
from loadtests.simulator.domain.profile import DecodeCost, PrefillCost
from loadtests.simulator.domain.timing import Chunk, chunk_ms, decode_ms

TURNS = [(u, c) for u in (20, 90, 400, 1_000, 1_900) for c in (0, 512, 1_504)]


def measured(cost: PrefillCost, *, disturbed: float = 1.0) -> list[FirstToken]:
    turns = [FirstToken(u, c, chunk_ms(cost, Chunk(u, c, opens=True))) for u, c in TURNS]
    usual = next(turn.ms for turn in turns if (turn.uncached, turn.cached) == (90, 0))
    return [*turns, FirstToken(90, 0, usual * disturbed)]


@given(st.floats(1, 100), st.floats(0.01, 5), st.floats(1e-6, 1e-3))
def test_a_law_is_found_again(base: float, token: float, pair: float) -> None:
    cost, quality = fit_prefill(measured(PrefillCost(base, token, pair)))
    assert cost.base_ms == pytest.approx(base, rel=1e-3)
    assert cost.per_token_ms == pytest.approx(token, rel=1e-3)
    assert cost.per_pair_ms == pytest.approx(pair, rel=1e-2)
    assert quality.largest_error < 0.001


def test_a_disturbed_turn_is_left_out() -> None:
    cost, quality = fit_prefill(measured(PrefillCost(38, 1.19, 0.00095), disturbed=3))
    assert cost.per_token_ms == pytest.approx(1.19, rel=0.001)
    assert quality.dropped == 1
    assert quality.kept == len(TURNS)


def test_no_cost_is_below_nothing() -> None:
    turns = [FirstToken(u, c, max(1.0, u - 5)) for u, c in TURNS]
    cost, _ = fit_prefill(turns)
    assert min(cost.base_ms, cost.per_token_ms, cost.per_pair_ms) >= 0


@given(st.floats(1, 100), st.floats(0.01, 10))
def test_the_pace_is_found_again(weights: float, sequence: float) -> None:
    known = DecodeCost(weights, sequence)
    cost, _ = fit_decode([Pace(n, decode_ms(known, n)) for n in (1, 2, 4, 8)])
    assert cost.weights_ms == pytest.approx(weights, rel=1e-3)
    assert cost.per_sequence_ms == pytest.approx(sequence, rel=1e-3)


def test_equal_measurements_say_nothing() -> None:
    with pytest.raises(NotEnoughMeasured, match="too much alike"):
        fit_prefill([FirstToken(90, 512, 200.0)] * 5)


@pytest.mark.parametrize("turns", [[], [FirstToken(90, 0, 0.0)]])
def test_nothing_measured_says_nothing(turns: list[FirstToken]) -> None:
    with pytest.raises(NotEnoughMeasured):
        fit_prefill(turns)
