"""A budget for each pool."""

from router.retry_budgets import RetryBudgets
from router.settings import RouterSettings


def test_a_pool_in_trouble_spends_nothing_of_another_pools() -> None:
    budgets = RetryBudgets(RouterSettings(retry_floor=1, retry_share=0.0))
    assert [budgets.of("m").take(1.0) for _ in range(2)] == [True, False]
    assert budgets.of("n").take(1.0)
