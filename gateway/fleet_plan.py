"""What operators see of the fleet's plan, and the floors that they set: out of Postgres alone, whoever routes."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.domain.pool_outlook import PoolOutlook, Window, is_current, lead_in_force, outlook
from gateway.drill_calendar import booking_of
from gateway.errors import FieldInvalid, PoolNotFound
from router.fleet.domain.demand import Booking, BookingId, PoolName, current
from router.fleet.domain.pool_book import Floor, PoolBook, Round
from router.fleet.domain.timeline import reach_s
from router.fleet.ports import Register
from router.fleet.settings import FleetSettings, PoolSettings
from sessions.domain.class_calendar import TimedClass
from sessions.domain.tiers import Offer
from sessions.domain.viewer import TenantId, Viewer
from sessions.drill_ports import ClassCalendar

BACK_S = 3600.0
MINUTE_S = 60.0
MOST_CLASSES = 200
_LAST_YEAR = 9998
"""What is later is no moment any more by the clocks of some zones."""


@dataclass(frozen=True, slots=True)
class OwnClass:
    """One of the asking tenant's own."""

    name: str
    booking: Booking


@dataclass(frozen=True, slots=True)
class PlannedPool:
    settings: PoolSettings
    outlook: PoolOutlook
    own: Sequence[OwnClass]
    """The soonest of them."""
    others: int
    """How many classes there are of other tenants, which have no names here."""


@dataclass(frozen=True, slots=True)
class FleetPlan:
    window: Window
    last_round: Round | None
    """The latest of all pools."""
    pools: Sequence[PlannedPool]
    unpooled: Mapping[PoolName, int]
    """Models without a pool, and how many classes want each: no replica is started for these."""

    @property
    def is_looked_after(self) -> bool:
        return self.last_round is not None and is_current(self.last_round, self.window)


class FleetPlans:
    """The fleet is one for all tenants, and so is its plan; names of classes are shown to their own tenant alone."""

    def __init__(
        self,
        *,
        settings: FleetSettings,
        register: Register,
        classes: ClassCalendar,
        offer: Offer,
        clock: Callable[[], datetime],
    ) -> None:
        self._pools = {pool.model: pool for pool in settings.pools}
        self._fresh_s = max(MINUTE_S, 3 * settings.interval_s)
        self._register = register
        self._classes = classes
        self._offer = offer
        self._clock = clock

    async def plan(self, tenant: TenantId, *, hours: int) -> FleetPlan:
        """Raises `LedgerUnavailable` or `RecordsUnavailable`."""
        now = self._clock().timestamp()
        window = Window(now - BACK_S, now, now + hours * 3600.0, self._fresh_s)
        rounds = {each.pool: each for each in await self._register.rounds()}
        books = [await self._register.book(PoolName(model)) for model in self._pools]
        classes = await self._between(window, books)
        # Of very many classes this takes a while, and everybody's turns run in this thread.
        pools, unpooled = await asyncio.to_thread(self._planned, tenant, books, classes, rounds, window)
        last_round = max(rounds.values(), key=lambda each: each.at, default=None)
        return FleetPlan(window, last_round, pools, unpooled)

    async def scale(
        self, viewer: Viewer, model: str, *, replicas: int, until: datetime | None, reason: str
    ) -> tuple[PoolSettings, Floor]:
        """Want so many at least from now on; raises `PoolNotFound`, `FieldInvalid` or `LedgerUnavailable`."""
        settings = self._pool(model)
        if replicas > settings.maximum:
            raise FieldInvalid("replicas", f"the pool allows {settings.maximum} replicas at most")
        if until is not None and until <= self._clock():
            raise FieldInvalid("until", "this moment is past")
        if until is not None and until.year > _LAST_YEAR:
            raise FieldInvalid("until", f"it is in the year {_LAST_YEAR} at the latest; leave it out to mean for ever")
        floor = Floor(replicas, None if until is None else until.timestamp(), str(viewer.account), reason)
        await self._register.set_floor(PoolName(model), floor)
        return settings, floor

    async def scale_back(self, model: str) -> PoolSettings:
        """Take a floor back, or nothing; raises `PoolNotFound` or `LedgerUnavailable`."""
        settings = self._pool(model)
        await self._register.set_floor(PoolName(model), None)
        return settings

    def _planned(
        self,
        tenant: TenantId,
        books: Sequence[PoolBook],
        classes: Sequence[TimedClass],
        rounds: Mapping[PoolName, Round],
        window: Window,
    ) -> tuple[Sequence[PlannedPool], Mapping[PoolName, int]]:
        bookings = [booking_of(each, self._offer) for each in classes]
        names = {BookingId(str(each.drill.id)): each.drill.plan.name for each in classes if each.drill.tenant == tenant}
        pools = [
            _planned(settings, outlook(book, settings.rules, bookings, rounds.get(book.pool), window), names)
            for settings, book in zip(self._pools.values(), books, strict=True)
        ]
        coming = (each for each in current(bookings) if each.ends > window.now and each.begins < window.until)
        return pools, Counter(each.pool for each in coming if each.pool not in self._pools)

    def _pool(self, model: str) -> PoolSettings:
        if model not in self._pools:
            raise PoolNotFound(model, known=tuple(self._pools))
        return self._pools[model]

    async def _between(self, window: Window, books: Sequence[PoolBook]) -> Sequence[TimedClass]:
        """Every class that has a say in what is wanted within the window."""
        if not books:
            return []
        rules = [pool.rules for pool in self._pools.values()]
        leads = [lead_in_force(book, each).lead for book, each in zip(books, rules, strict=True)]
        before = max(ahead.start_s for ahead in leads)
        after = max(map(reach_s, rules, leads))
        return await self._classes.between(_moment(window.since - before), _moment(window.until + after))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _planned(settings: PoolSettings, found: PoolOutlook, names: Mapping[BookingId, str]) -> PlannedPool:
    own = [OwnClass(names[booking.id], booking) for booking in found.classes if booking.id in names]
    return PlannedPool(settings, found, own[:MOST_CLASSES], len(found.classes) - len(own))
