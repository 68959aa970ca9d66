from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.closed_queue import found_in_flight, in_flight, quantile


def throughput_by_mva(trainees: int, *, think_s: float, rate: Callable[[int], float]) -> float:
    """Load-dependent mean value analysis, step by step from a class of one (Reiser and Lavenberg 1980): the oracle."""
    before = [1.0]
    found = 0.0
    for size in range(1, trainees + 1):
        response = sum(count / rate(count) * before[count - 1] for count in range(1, size + 1))
        found = size / (think_s + response)
        shares = [found / rate(count) * before[count - 1] for count in range(1, size + 1)]
        before = [1.0 - sum(shares), *shares]
    return found


def busy(served: tuple[float, ...], rate: Callable[[int], float]) -> float:
    return sum(share * rate(count) for count, share in enumerate(served) if count)


def test_two_trainees_and_one_at_a_time_by_hand() -> None:
    # Z = 4 s, service 1 s: weights 1, 2/4, 2/4 x 1/4, and so 8, 4, 1 of 13.
    assert in_flight(2, think_s=4.0, rate=lambda _: 1.0) == pytest.approx((8 / 13, 4 / 13, 1 / 13))


def test_where_nobody_disturbs_anybody_turns_are_binomial() -> None:
    # Each alone in flight 1 s of 4: the mean is N/4.
    shares = in_flight(40, think_s=3.0, rate=lambda count: count / 1.0)
    assert sum(count * share for count, share in enumerate(shares)) == pytest.approx(10.0)


def test_a_message_finds_what_a_class_without_its_trainee_has() -> None:
    assert found_in_flight(1, think_s=1.0, rate=lambda _: 1.0) == (1.0,)
    assert found_in_flight(3, think_s=4.0, rate=lambda _: 1.0) == in_flight(2, think_s=4.0, rate=lambda _: 1.0)


def test_a_class_that_no_float_could_weigh_is_computed() -> None:
    shares = in_flight(5_000, think_s=0.1, rate=lambda _: 1.0)
    assert sum(shares) == pytest.approx(1.0)
    assert shares[-1] > 0.8


RATES = st.builds(
    lambda step, each, cap: lambda count: min(count, cap) / (step + each * min(count, cap)),
    st.floats(0.05, 5.0),
    st.floats(0.0, 1.0),
    st.integers(1, 40),
)


@given(st.integers(1, 30), st.floats(0.5, 60.0), RATES)
def test_throughput_is_that_of_mean_value_analysis(trainees: int, think_s: float, rate: Callable[[int], float]) -> None:
    shares = in_flight(trainees, think_s=think_s, rate=rate)
    assert busy(shares, rate) == pytest.approx(throughput_by_mva(trainees, think_s=think_s, rate=rate), rel=1e-6)


@given(st.integers(1, 60), st.floats(0.5, 60.0), RATES)
def test_trainees_either_think_or_wait(trainees: int, think_s: float, rate: Callable[[int], float]) -> None:
    """Little's law: turns a second x think time are the trainees who think."""
    shares = in_flight(trainees, think_s=think_s, rate=rate)
    waiting = sum(count * share for count, share in enumerate(shares))
    assert busy(shares, rate) * think_s + waiting == pytest.approx(trainees)


def test_a_quantile_is_the_smallest_number_that_reaches_it() -> None:
    shares = (0.5, 0.3, 0.15, 0.05)
    assert [quantile(shares, at) for at in (0.1, 0.5, 0.51, 0.9, 1.0)] == [0, 0, 1, 2, 3]
    assert quantile((0.5, 0.4), 0.95) == 1  # where rounding leaves less than the whole
