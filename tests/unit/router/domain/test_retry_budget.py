"""Second requests stay a share of the first ones."""

from hypothesis import given
from hypothesis import strategies as st

from router.domain.retry_budget import WINDOW_S, RetryBudget


def takes(budget: RetryBudget, times: int, *, now: float) -> int:
    return sum(budget.take(now) for _ in range(times))


def test_a_few_are_always_allowed() -> None:
    assert takes(RetryBudget(share=0.2, floor=20), 50, now=100.0) == 20


def test_many_first_requests_allow_more() -> None:
    budget = RetryBudget(share=0.2, floor=20)
    for _ in range(1_000):
        budget.first(100.0)
    assert takes(budget, 500, now=101.0) == 200


def test_what_is_ten_seconds_old_is_forgotten() -> None:
    budget = RetryBudget(share=0.0, floor=3)
    assert takes(budget, 5, now=100.9) == 3
    assert takes(budget, 5, now=109.9) == 0
    assert takes(budget, 5, now=110.0) == 3
    assert takes(budget, 5, now=10_000.0) == 3


def test_a_clock_that_steps_back_earns_nothing() -> None:
    budget = RetryBudget(share=0.0, floor=3)
    assert takes(budget, 3, now=100.0) == 3
    assert takes(budget, 3, now=50.0) == 0


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 4)), max_size=200), st.integers(0, 5), st.floats(0, 1))
def test_in_no_window_are_there_more_than_allowed(steps: list[tuple[bool, float]], floor: int, share: float) -> None:
    budget, now = RetryBudget(share=share, floor=floor), 0.0
    firsts: list[float] = []
    seconds: list[float] = []
    for is_first, passed in steps:
        now += passed
        if is_first:
            budget.first(now)
            firsts.append(now)
        elif budget.take(now):
            seconds.append(now)
        began = int(now) - WINDOW_S + 1
        recent = [sum(1 for at in known if at >= began) for known in (firsts, seconds)]
        assert budget.allowed == max(floor, share * recent[0])
        if seconds and seconds[-1] == now:
            assert recent[1] - 1 < budget.allowed
