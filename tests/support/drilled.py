"""Many drills at once on memory, with the pools of `planned_fleet` or with none."""

from gateway.drill_cases import DrillCases, drill_cases
from gateway.drill_strain import DrillStrain
from gateway.wiring.drills import calendar_files
from router.fleet.adapters.memory_ledger import MemoryLedger
from sessions.adapters.memory_class_calendar import MemoryClassCalendar
from sessions.adapters.memory_drill_book import MemoryDrillBook
from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.memory_tenant_tiers import MemoryTenantTiers
from sessions.domain.tiers import offer_of
from sessions.drill_ports import Drills
from sessions.ports import Clock, Records
from tests.support.planned_fleet import FAR_POOL, POOL, POOLS


def drilled(drills: Drills, records: Records, clock: Clock, ledger: MemoryLedger | None) -> DrillCases:
    """Without a ledger no pool is configured."""
    assert isinstance(drills, MemoryDrills)
    strain = DrillStrain(
        pools=() if ledger is None else POOLS,
        register=ledger or MemoryLedger(),
        classes=MemoryClassCalendar(drills=drills, records=records, tenants=MemoryTenantTiers()),
        offer=offer_of(POOL, (POOL, FAR_POOL), {}, {}),
        clock=clock.now,
    )
    book = MemoryDrillBook(drills)
    return drill_cases(book=book, records=records, clock=clock, calendars=calendar_files(), strain=strain)
