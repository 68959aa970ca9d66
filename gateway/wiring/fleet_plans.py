"""The plan of the fleet as operators see it, on what the controller and the calendar keep in Postgres."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.fleet_plan import FleetPlans
from gateway.settings import Settings
from gateway.wiring.clock import SystemClock
from router.fleet.adapters.fleet_database import FleetDatabase
from router.fleet.adapters.postgres_ledger import PostgresLedger
from sessions.adapters.postgres.class_calendar import PostgresClassCalendar
from sessions.tenant_wall import EVERY_TENANT, STEP


def fleet_plans(settings: Settings, engine: AsyncEngine) -> FleetPlans:
    database = FleetDatabase(engine=engine, step=text(STEP).bindparams(side=EVERY_TENANT))
    return FleetPlans(
        settings=settings.fleet,
        register=PostgresLedger(database=database),
        classes=PostgresClassCalendar(engine=engine),
        offer=settings.offer,
        clock=SystemClock().now,
    )
