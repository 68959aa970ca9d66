"""The retry budget of each pool, on this router."""

from router.domain.retry_budget import RetryBudget
from router.settings import RouterSettings


class RetryBudgets:
    """As many as there are models, since a call gets here only once a replica of its pool was found."""

    def __init__(self, settings: RouterSettings) -> None:
        self._settings = settings
        self._budgets: dict[str, RetryBudget] = {}

    def of(self, model: str) -> RetryBudget:
        budget = self._budgets.get(model)
        if budget is None:
            settings = self._settings
            budget = self._budgets[model] = RetryBudget(share=settings.retry_share, floor=settings.retry_floor)
        return budget
