"""A plan of the fleet on memory: two pools, one with a slash in its name, and nobody who looks after them."""

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from gateway.fleet_plan import FleetPlans
from router.fleet.adapters.memory_ledger import MemoryLedger
from router.fleet.domain.demand import PoolName
from router.fleet.domain.pool_book import PoolBook, Round
from router.fleet.errors import LedgerUnavailable
from router.fleet.settings import FleetSettings, KubernetesHostSettings, PoolSettings
from sessions.adapters.memory_class_calendar import MemoryClassCalendar
from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.memory_tenant_tiers import MemoryTenantTiers
from sessions.domain.tiers import offer_of
from sessions.drill_ports import Drills
from sessions.ports import Clock, Records

POOL, FAR_POOL = "fake", "org/far"
NO_POOL = "large"
HOST = KubernetesHostSettings(deployment="tutor")
POOLS = (
    PoolSettings(model=POOL, seats_per_replica=10, maximum=4, host=HOST),
    PoolSettings(model=FAR_POOL, seats_per_replica=20, maximum=2, minimum=1, host=HOST),
)


class FragileLedger(MemoryLedger):
    """A memory ledger whose database can go away."""

    away: bool = False

    @override
    async def rounds(self) -> Sequence[Round]:
        if self.away:
            raise LedgerUnavailable("no route to postgres.internal")
        return await super().rounds()

    @override
    async def book(self, pool: PoolName) -> PoolBook:
        if self.away:
            raise LedgerUnavailable("no route to postgres.internal")
        return await super().book(pool)


@dataclass(frozen=True)
class PlannedFleet:
    plans: FleetPlans
    ledger: FragileLedger
    tenants: MemoryTenantTiers


def planned_fleet(drills: Drills, records: Records, clock: Clock) -> PlannedFleet:
    assert isinstance(drills, MemoryDrills)
    ledger = FragileLedger()
    tenants = MemoryTenantTiers()
    classes = MemoryClassCalendar(drills=drills, records=records, tenants=tenants)
    offer = offer_of(POOL, (POOL, FAR_POOL, NO_POOL), {}, {})
    plans = FleetPlans(
        settings=FleetSettings(pools=POOLS), register=ledger, classes=classes, offer=offer, clock=clock.now
    )
    return PlannedFleet(plans, ledger, tenants)
