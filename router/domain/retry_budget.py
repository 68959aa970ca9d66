"""How many second requests a pool may get, so that a pool in trouble is not given twice the work.

Over the last ten seconds: `floor`, or `share` of the first requests, whichever is more. What is free (see
router/domain/failover.py) does not come here: one class whose replica died must not use up what others need.
"""

WINDOW_S = 10


class RetryBudget:
    """Counts by whole seconds; a clock that steps back counts on in the second it was in."""

    def __init__(self, *, share: float, floor: int) -> None:
        self._share = share
        self._floor = floor
        self._second = 0
        self._firsts = [0] * WINDOW_S
        self._seconds = [0] * WINDOW_S

    def first(self, now: float) -> None:
        if int(now) > self._second:
            self._advance(int(now))
        self._firsts[self._second % WINDOW_S] += 1

    def take(self, now: float) -> bool:
        """Whether one more second request may go out; if so it is counted."""
        if int(now) > self._second:
            self._advance(int(now))
        if sum(self._seconds) >= self.allowed:
            return False
        self._seconds[self._second % WINDOW_S] += 1
        return True

    @property
    def allowed(self) -> float:
        return max(self._floor, self._share * sum(self._firsts))

    def _advance(self, second: int) -> None:
        for passed in range(max(self._second, second - WINDOW_S) + 1, second + 1):
            self._firsts[passed % WINDOW_S] = self._seconds[passed % WINDOW_S] = 0
        self._second = second
