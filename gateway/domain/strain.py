"""How a class strains its pool: the replicas it takes together with all others, what is missing, and whom it meets."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from router.fleet.domain.demand import Booking, BookingId, PoolName, current, demand, seats_of
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.steps import Steps
from router.fleet.domain.timeline import Lead, Shortage, replicas_for, shortages

MOST_OVERLAPS = 20
MOST_SHORTAGES = 20


@dataclass(frozen=True, slots=True)
class Strain:
    """Over the time of one class."""

    pool: PoolName
    needs: int
    """Replicas that all classes together take at once."""
    allows: int
    shortages: Sequence[Shortage]
    overlaps: Sequence[BookingId]
    """Other classes of the same tenant, soonest first."""
    warning: str
    """Why its replicas may come too late; empty: they need not."""

    @property
    def text(self) -> str:
        """For whoever plans it, such as "needs 6 replicas, the pool allows 4"; empty: there is nothing to be said."""
        short = str(replace(self.shortages[0], needs=self.needs)) if self.shortages else ""
        return "; ".join(filter(None, (short, self.warning)))


class PoolLoad:
    """All classes of one pool, put together once and looked at for many of them.

    `own` are those of the tenant that asks, which alone it may be told of.
    """

    def __init__(
        self, *, pool: PoolName, bookings: Iterable[Booking], rules: PoolRules, own: Collection[BookingId]
    ) -> None:
        held = [booking for booking in current(bookings) if booking.pool == pool]
        self._pool = pool
        self._rules = rules
        self._seats = demand(held, pool)
        self._shortages = shortages(self._seats, rules)
        self._own = sorted((each for each in held if each.id in own), key=lambda each: (each.begins, each.id))
        self._longest = max((each.ends - each.begins for each in self._own), default=0.0)

    def of(self, booking: Booking, *, ahead: Lead, now: float) -> Strain:
        needs = replicas_for(_peak(self._seats, booking.begins, booking.ends), self._rules)
        first = bisect_right(self._shortages, booking.begins, key=lambda each: each.ends)
        last = bisect_left(self._shortages, booking.ends, key=lambda each: each.begins)
        return Strain(
            pool=self._pool,
            needs=needs,
            allows=self._rules.maximum,
            shortages=[_within(each, booking) for each in self._shortages[first:last][:MOST_SHORTAGES]],
            overlaps=self._met(booking),
            warning=self._warning(booking, ahead, now),
        )

    def _met(self, booking: Booking) -> Sequence[BookingId]:
        first = bisect_left(self._own, booking.begins - self._longest, key=lambda each: each.begins)
        last = bisect_left(self._own, booking.ends, key=lambda each: each.begins)
        near = self._own[first:last]
        return [each.id for each in near if each.ends > booking.begins and each.id != booking.id][:MOST_OVERLAPS]

    def _warning(self, booking: Booking, ahead: Lead, now: float) -> str:
        starts = min(replicas_for(seats_of(booking), self._rules), self._rules.maximum)
        takes_s = ceil(starts / self._rules.starts_at_once) * ahead.start_s
        left_s = booking.begins - now
        if booking.ends <= now or takes_s <= left_s:
            return ""
        bell = f"the bell is in {int(left_s // 60)}" if left_s > 0 else "the bell has rung"
        return f"replicas take about {ceil(takes_s / 60)} min, {bell}"


def _peak(steps: Steps, begins: float, ends: float) -> int:
    """The highest number of a span. As `Steps.peak`, without walking through all that lies before it."""
    first = bisect_right(steps.changes, begins, key=lambda change: change[0])
    last = bisect_left(steps.changes, ends, key=lambda change: change[0])
    return max(steps.at(begins), *(height for _, height in steps.changes[first:last]), 0)


def _within(shortage: Shortage, booking: Booking) -> Shortage:
    return replace(shortage, begins=max(shortage.begins, booking.begins), ends=min(shortage.ends, booking.ends))
