"""The plan of the fleet as operators see it, on what the controller and the calendar keep in Postgres."""

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.fleet_plan import FleetPlans
from gateway.settings import Settings
from gateway.wiring.clock import SystemClock
from gateway.wiring.postgres import fleet_database
from router.fleet.adapters.postgres_ledger import PostgresLedger
from sessions.adapters.postgres.class_calendar import PostgresClassCalendar


def fleet_plans(settings: Settings, engine: AsyncEngine) -> FleetPlans:
    return FleetPlans(
        settings=settings.fleet,
        register=PostgresLedger(database=fleet_database(engine)),
        classes=PostgresClassCalendar(engine=engine),
        offer=settings.offer,
        clock=SystemClock().now,
    )
