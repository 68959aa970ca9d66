"""Draws, and figures of them, against the same by hand."""

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.resample import Ratio, drawn, percentile, ratio, runs_alone, times
from loadtests.domain.spread import at_rank

values = st.lists(st.floats(0, 1e6) | st.just(math.inf), min_size=1, max_size=6)
units = st.lists(values, min_size=1, max_size=8)


@given(units, st.sampled_from([500, 900, 950, 990]), st.integers(0, 9))
def test_a_percentile_of_a_draw_is_that_of_the_turns_it_drew(
    of: list[list[float]], thousandths: int, seed: int
) -> None:
    counts = drawn([len(of)], draws=3, seed=str(seed))
    found = percentile(counts, times(of), thousandths)
    for row, value in zip(counts, found, strict=True):
        copied = sorted(chain.from_iterable(unit * int(count) for unit, count in zip(of, row, strict=True)))
        assert value == at_rank(copied, thousandths)


def test_many_draws_are_worked_through_in_parts() -> None:
    of = times([[float(value)] for value in range(10)])
    counts = drawn([10], draws=150, seed="many")
    apart = [float(percentile(counts[at : at + 1], of, 500)[0]) for at in range(150)]
    assert percentile(counts, of, 500).tolist() == apart


def test_what_has_no_value_is_no_number() -> None:
    assert np.isnan(percentile(np.ones((2, 3), dtype=np.int64), times([[], [], []]), 950)).all()
    counts = np.array([[1, 0], [0, 2]])
    assert percentile(counts, times([[], [4.0]]), 950).tolist()[1] == 4
    assert math.isnan(percentile(counts, times([[], [4.0]]), 950)[0])
    shares = ratio(counts, Ratio(np.array([1.0, 1.0]), np.array([0.0, 4.0])))
    assert math.isnan(shares[0])
    assert shares[1] == 0.25


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.text(max_size=5))
def test_each_run_keeps_its_number_and_equal_seeds_draw_alike(of: list[int], seed: str) -> None:
    counts = drawn(of, draws=4, seed=seed)
    assert counts.shape == (4, sum(of))
    begin = 0
    for size in of:
        assert (counts[:, begin : begin + size].sum(axis=1) == size).all()
        begin += size
    assert (counts == drawn(of, draws=4, seed=seed)).all()


def test_other_seeds_draw_otherwise() -> None:
    assert (drawn([20], draws=4, seed="a") != drawn([20], draws=4, seed="b")).any()


def test_runs_alone_are_each_their_own_units_once() -> None:
    assert runs_alone([2, 0, 1]).tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_a_ratio_is_that_of_the_sums() -> None:
    of = Ratio(np.array([1.0, 2.0]), np.array([2.0, 8.0]))
    assert ratio(np.array([[1, 1], [2, 0]]), of).tolist() == pytest.approx([0.3, 0.5])
