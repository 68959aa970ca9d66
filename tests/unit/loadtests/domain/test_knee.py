"""The knee of curves whose saturation is known."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.knee import Level, knee_of

SERVICE_S, THINK_S = 0.5, 19.5
SATURATION = (SERVICE_S + THINK_S) / SERVICE_S
"""40 trainees keep one server busy all the time."""
Curve = Callable[[int], Level]


def steady(trainees: int) -> Level:
    """Service always takes equally long: nobody waits until the server is always busy, and then everybody."""
    throughput = min(trainees / (SERVICE_S + THINK_S), 1 / SERVICE_S)
    return Level(trainees, throughput, trainees / throughput - THINK_S)


def exponential(trainees: int) -> Level:
    """One server with exponential times of service, by exact mean value analysis; p95 as of an exponential wait."""
    queue, throughput, response_s = 0.0, 0.0, SERVICE_S
    for arrived in range(1, trainees + 1):
        response_s = SERVICE_S * (1 + queue)
        throughput = arrived / (THINK_S + response_s)
        queue = throughput * response_s
    return Level(trainees, throughput, response_s * math.log(20))


def refusing(trainees: int) -> Level:
    """More than can be served are turned away: beyond saturation a part of the turns never has a first text."""
    level = steady(trainees)
    return level if trainees <= SATURATION else Level(trainees, 1 / SERVICE_S, math.inf)


@pytest.mark.parametrize("curve", [steady, refusing])
def test_the_knee_is_the_last_level_before_saturation(curve: Curve) -> None:
    assert knee_of([curve(n) for n in (5, 10, 20, 40, 80, 160)]) == 40
    assert knee_of([curve(n) for n in range(10, 100, 10)]) == 40
    assert knee_of([curve(n) for n in (5, 15, 25, 35, 45, 55)]) == 35


def test_with_chance_in_the_service_it_lies_between_half_of_saturation_and_saturation() -> None:
    found = knee_of([exponential(n) for n in range(2, 120, 2)])
    assert found is not None
    assert SATURATION / 2 * 0.8 <= found <= SATURATION


@pytest.mark.parametrize("curve", [steady, exponential])
def test_below_saturation_there_is_no_knee_yet(curve: Curve) -> None:
    assert knee_of([curve(n) for n in (2, 4, 8, 16)]) is None


def test_a_throughput_that_grows_no_more_is_enough() -> None:
    """Waiting may show elsewhere than in the time to a first text."""
    levels = [Level(n, min(n, 40) / 20 * noise, 0.3) for n, noise in ((10, 1.0), (20, 0.99), (40, 1.0), (80, 1.01))]
    assert knee_of(levels) == 40


def test_latency_that_leaps_is_enough() -> None:
    """Trainees who keep to a timetable bring their turns however long they wait."""
    assert knee_of([Level(n, n / 28, 0.3 if n <= 40 else 3.0) for n in (10, 20, 40, 80)]) == 40


def test_a_level_within_a_tenth_of_the_greatest_power_has_it() -> None:
    """Powers are 90, 100 and 50, then a little less than 90."""
    assert knee_of([Level(10, 90.0, 1.0), Level(20, 100.0, 1.0), Level(40, 50.0, 1.0)]) == 10
    assert knee_of([Level(10, 89.9, 1.0), Level(20, 100.0, 1.0), Level(40, 50.0, 1.0)]) == 20


def test_throughput_grows_while_it_gains_a_twentieth() -> None:
    assert knee_of([Level(10, 100.0, 1.0), Level(20, 105.0, 1.0)]) is None
    assert knee_of([Level(10, 100.0, 1.0), Level(20, 104.9, 1.0)]) == 10


@pytest.mark.parametrize(
    "levels", [[], [Level(10, 1.0, 0.3)], [Level(10, 0.0, 0.3)], [Level(10, 1.0, math.inf), Level(20, 1.0, math.inf)]]
)
def test_of_too_little_no_knee_is_known(levels: list[Level]) -> None:
    assert knee_of(levels) is None


@given(st.permutations([5, 10, 20, 40, 80]), st.floats(0.1, 10), st.floats(0.1, 10))
def test_neither_order_nor_units_matter(order: list[int], faster: float, longer: float) -> None:
    levels = [steady(n) for n in order]
    scaled = [Level(level.trainees, level.turns_per_s * faster, level.ttft_p95_s * longer) for level in levels]
    assert knee_of(scaled) == 40
