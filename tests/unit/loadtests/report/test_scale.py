"""Where values lie, and which are written beside them."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.report.scale import Axis, Scale, scale_of, ticks

Y = Axis(label="y")
CLOCK = Axis(label="t", is_clock=True)
LOG = Axis(label="n", logarithmic=True)


def scale(axis: Axis, values: Sequence[float | None], *, from_zero: bool = True) -> Scale:
    return scale_of(axis, values, start=300, end=100, from_zero=from_zero)


def test_a_linear_scale_is_linear_and_keeps_to_its_edges() -> None:
    plain = Scale(low=0, high=10, start=300, end=100)
    assert [plain.place(value) for value in (0, 5, 10, 11, inf, -3)] == [300, 200, 100, 100, 100, 300]
    assert [Scale(low=10, high=20, start=0, end=100).place(value) for value in (10, 15, 20)] == [0, 50, 100]
    assert plain.is_beyond(inf)
    assert not plain.is_beyond(10)


def test_a_logarithmic_scale_gives_each_decade_the_same_room() -> None:
    decades = Scale(low=0.01, high=100, start=0, end=400, logarithmic=True)
    assert [decades.place(value) for value in (0.01, 0.1, 1, 10, 100, 0)] == [0, 100, 200, 300, 400, 0]


def test_values_are_seen_from_zero_with_room_above_unless_asked_otherwise() -> None:
    assert (scale(Y, [2, 4, None, inf]).low, scale(Y, [2, 4]).high) == (0, 4.2)
    assert (scale(Y, [2, 4], from_zero=False).low, scale(Y, [2, 4], from_zero=False).high) == (2, 4)
    assert scale(Y, [-2, 4]).low < -2
    assert scale(Axis(label="y", low=1, high=9), [2, 4]).high == 9


@pytest.mark.parametrize("values", [[], [None], [inf], [0], [3, 3]])
@pytest.mark.parametrize("axis", [Y, LOG, CLOCK])
def test_even_nothing_has_a_scale(axis: Axis, values: list[float | None]) -> None:
    for from_zero in (True, False):
        made = scale(axis, values, from_zero=from_zero)
        assert made.high > made.low
        assert ticks(axis, made)


@given(st.lists(st.floats(1e-6, 1e9), min_size=1), st.sampled_from([Y, LOG, CLOCK]))
def test_every_value_lies_within_and_ticks_are_few_and_in_order(values: list[float], axis: Axis) -> None:
    made = scale(axis, values)
    assert all(100 <= made.place(value) <= 300 and not made.is_beyond(value) for value in values)
    written = ticks(axis, made)
    assert 1 <= len(written) <= 9
    assert all(a < b for a, b in pairwise(written))
    assert all(made.low * 0.999 <= each <= made.high * 1.001 for each in written)


def test_ticks_are_round() -> None:
    assert ticks(Y, Scale(low=0, high=1.05, start=0, end=1)) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert ticks(Axis(label="n", is_count=True), Scale(low=0, high=1.05, start=0, end=1)) == [0, 1]
    assert ticks(CLOCK, Scale(low=-10, high=600, start=0, end=1)) == [0, 120, 240, 360, 480, 600]
    assert ticks(CLOCK, Scale(low=0, high=30 * 86_400, start=0, end=1))[1] == 5 * 86_400
    assert ticks(LOG, Scale(low=0.2, high=5, start=0, end=1, logarithmic=True)) == pytest.approx([0.2, 0.5, 1, 2, 5])
    assert ticks(LOG, Scale(low=1e-6, high=1e3, start=0, end=1, logarithmic=True)) == pytest.approx(
        [1e-6, 1e-4, 1e-2, 1, 100]
    )
