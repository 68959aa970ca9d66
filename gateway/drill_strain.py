"""How classes strain their pools, as it is told to whoever schedules them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.domain.strain import PoolLoad, Strain
from gateway.drill_calendar import booking_of
from router.fleet.domain.demand import Booking, BookingId, PoolName
from router.fleet.domain.past_starts import measured_start_s
from router.fleet.domain.timeline import lead
from router.fleet.errors import LedgerUnavailable
from router.fleet.ports import Register
from router.fleet.settings import PoolSettings
from sessions.domain.class_calendar import TimedClass
from sessions.domain.drill import Drill, DrillId, DrillState
from sessions.domain.tiers import Offer
from sessions.drill_ports import ClassCalendar
from sessions.errors import RecordsUnavailable

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ToldStrain:
    strain: Strain
    overlaps: Sequence[tuple[BookingId, str]]
    """Ids and names of the tenant's own classes in the same pool at that time."""


class DrillStrain:
    """Advice alone: where it cannot be had now, nothing is told, and whatever was asked for goes on."""

    def __init__(
        self,
        *,
        pools: Sequence[PoolSettings],
        register: Register,
        classes: ClassCalendar,
        offer: Offer,
        clock: Callable[[], datetime],
    ) -> None:
        self._pools = {PoolName(pool.model): pool for pool in pools}
        self._register = register
        self._classes = classes
        self._offer = offer
        self._clock = clock

    async def of(self, drills: Sequence[Drill]) -> Mapping[DrillId, ToldStrain]:
        """Of those that are to be held, all of one tenant, whose pools are configured; written already or not."""
        held = [drill for drill in drills if drill.state is DrillState.SCHEDULED]
        if not self._pools or not held:
            return {}
        try:
            return await self._told(held)
        except (RecordsUnavailable, LedgerUnavailable):
            _log.warning("the strain of classes cannot be told now")
            return {}

    async def _told(self, held: Sequence[Drill]) -> Mapping[DrillId, ToldStrain]:
        tenant = held[0].tenant
        wishes = await self._classes.wishes(tenant, list({drill.plan.scenario for drill in held}))
        asked = [TimedClass(drill, wishes[drill.plan.scenario]) for drill in held if drill.plan.scenario in wishes]
        others = await self._classes.between(
            min(drill.plan.starts_at for drill in held), max(drill.plan.ends_at for drill in held)
        )
        names = {
            BookingId(str(each.drill.id)): each.drill.plan.name
            for each in (*others, *asked)
            if each.drill.tenant == tenant
        }
        planned = {each.drill.id: booking_of(each, self._offer) for each in asked}
        # What is asked about counts as it is asked, whatever is stored of it.
        stored = [booking_of(each, self._offer) for each in others if each.drill.id not in planned]
        return {
            drill: ToldStrain(strain, [(each, names[each]) for each in strain.overlaps])
            for drill, strain in (await self._strains(planned, stored, names)).items()
        }

    async def _strains(
        self, planned: Mapping[DrillId, Booking], stored: Sequence[Booking], own: Collection[BookingId]
    ) -> Mapping[DrillId, Strain]:
        now = self._clock().timestamp()
        found: dict[DrillId, Strain] = {}
        for pool in {booking.pool for booking in planned.values()} & self._pools.keys():
            rules = self._pools[pool].rules
            ahead = lead(rules, measured_start_s((await self._register.book(pool)).starts))
            load = PoolLoad(pool=pool, bookings=[*stored, *planned.values()], rules=rules, own=own)
            for drill, booking in planned.items():
                if booking.pool == pool:
                    found[drill] = load.of(booking, ahead=ahead, now=now)
        return found
