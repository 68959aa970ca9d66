"""Many drills at once, and how they strain the fleet, on Postgres."""

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.drill_cases import DrillCases, drill_cases
from gateway.drill_strain import DrillStrain
from gateway.settings import Settings
from gateway.wiring.clock import SystemClock
from gateway.wiring.postgres import fleet_database
from router.fleet.adapters.postgres_ledger import PostgresLedger
from sessions.adapters.ical_process import CalendarProcesses
from sessions.adapters.postgres.class_calendar import PostgresClassCalendar
from sessions.adapters.postgres.drill_book import PostgresDrillBook
from sessions.drill_ports import ClassFileReader
from sessions.ports import Records


def many_drills(settings: Settings, engine: AsyncEngine, records: Records) -> DrillCases:
    clock = SystemClock()
    return drill_cases(
        book=PostgresDrillBook(engine=engine),
        records=records,
        clock=clock,
        calendars=calendar_files(),
        strain=DrillStrain(
            pools=settings.fleet.pools,
            register=PostgresLedger(database=fleet_database(engine)),
            classes=PostgresClassCalendar(engine=engine),
            offer=settings.offer,
            clock=clock.now,
        ),
    )


def calendar_files() -> ClassFileReader:
    return CalendarProcesses()
