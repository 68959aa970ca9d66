"""The least that a plan could let stand idle, found without the code that is tested.

A plan that keeps the lead has, at each moment, the replicas that any class within the lead ahead will need, as far as
its backend can have started them: a few at once, the next ones when those are up, at the soonest. It also has those
that the sessions past their end sit on. Whoever knew all beforehand, and whose starts never failed, would have no more.
"""

from collections import deque
from collections.abc import Sequence


def reached_by_lead(need: Sequence[int], ahead: int) -> list[int]:
    """At each tick the highest need from then until the lead is over; a sliding maximum."""
    window: deque[int] = deque()
    highest = [0] * len(need)
    for tick in range(len(need) - 1, -1, -1):
        while window and need[window[-1]] <= need[tick]:
            window.pop()
        window.append(tick)
        while window[0] > tick + ahead:
            window.popleft()
        highest[tick] = need[window[0]]
    return highest


def least_idle(need: Sequence[int], used: Sequence[int], *, ahead: int, at_once: int, soonest: int) -> int:
    """Idle replica-ticks: what the best plan has beyond what is used. All times are in ticks."""
    had: list[int] = []
    for tick, due in enumerate(reached_by_lead(need, ahead)):
        startable = (had[tick - soonest] if tick >= soonest else 0) + at_once
        had.append(max(used[tick], min(due, startable)))
    return sum(had) - sum(used)
