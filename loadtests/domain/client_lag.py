"""How late the client itself was: sending turns, stamping their first texts, and waking its own loops."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from loadtests.domain import spread
from loadtests.domain.figures import Spread
from loadtests.domain.rows import Row
from loadtests.domain.server import LagSample

LAG_EVERY_S = 0.05
"""How often a worker looks how late its loop is, in real seconds."""
_LONGEST_S = 3_600.0
"""No stall counts for more looks, lest a senseless one fill the memory."""
_WAKING_S = 0.01
"""So long after a loop was woken it may still be reading what came while it stood still."""


def client_lag(turns: Sequence[Row], lag: Sequence[LagSample], *, speed_up: float) -> Spread:
    """The worse of turns and loops: mixed, the many looks of the loops would hide turns that were sent late.

    A loop that stood still for a moment of a long run is hardly seen among its looks; but all turns whose first text
    came in that moment, as those of a class after its bell, were stamped late.
    """
    stalls = _Stalls(lag, speed_up=speed_up)
    late = [max(_sent_late_s(turn) / speed_up, stalls.around_first_text_s(turn)) for turn in turns]
    loops = [each for sample in lag for each in _with_missed(sample.lag_s)]
    return max(spread.spread_of(late), spread.spread_of(loops), key=lambda found: found.p99 or 0.0)


class _Stalls:
    """When the loop of each worker stood still, from its looks."""

    def __init__(self, lag: Iterable[LagSample], *, speed_up: float) -> None:
        self._speed_up = speed_up
        self._looks: dict[int, list[LagSample]] = defaultdict(list)
        for sample in sorted(lag, key=lambda each: each.at_s):
            self._looks[sample.worker].append(sample)

    def around_first_text_s(self, turn: Row) -> float:
        """By how many real seconds its first text may have been stamped late."""
        if turn.first_s is None:
            return 0.0
        return max((look.lag_s for look in self._near(turn.worker, turn.first_s)), default=0.0)

    def _near(self, worker: int, at_s: float) -> Iterator[LagSample]:
        """The look that ended a stall just before, and the next one, where its stall had begun by then."""
        looks = self._looks.get(worker, [])
        begin = bisect_left(looks, at_s - _WAKING_S * self._speed_up, key=lambda look: look.at_s)
        return (look for look in looks[begin : begin + 2] if look.at_s - look.lag_s * self._speed_up <= at_s)


def _sent_late_s(turn: Row) -> float:
    free_s = turn.planned_s if turn.free_s is None else max(turn.planned_s, turn.free_s)
    return max(0.0, turn.started_s - free_s)


def _with_missed(lag_s: float) -> list[float]:
    """A loop that stood still for a second missed its looks within it, which would have told what was left of it."""
    looks = 1 + math.floor(min(max(0.0, lag_s), _LONGEST_S) / LAG_EVERY_S)
    return [lag_s - missed * LAG_EVERY_S for missed in range(looks)]
