"""Drills to put into the records."""

from dataclasses import replace
from datetime import timedelta

from sessions.domain.drill import Drill, DrillId, DrillPlan
from sessions.domain.scenario import ScenarioId
from tests.support.records_world import HERE, NOON, People, uuid_of


def plan(**changes: object) -> DrillPlan:
    usual = DrillPlan(
        name="Thursday's class 周四",
        scenario=ScenarioId(uuid_of("renewal")),
        starts_at=NOON,
        ends_at=NOON + timedelta(hours=2),
        expected_trainees=30,
        seats=25,
        walk_ins=5,
        turns_in_flight=20,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]  # fields by their names


def drill(name: str = "class", people: People = HERE, *, minutes: int = 0, **changes: object) -> Drill:
    """A drill of that tenant, in its scenario of `records_world`."""
    scenario = ScenarioId(uuid_of("renewal" if people is HERE else "renewal elsewhere"))
    return Drill(
        id=DrillId(uuid_of(name)),
        tenant=people.tenant,
        plan=plan(**{"scenario": scenario, **changes}),
        created_by=people.instructor,
        created_at=NOON + timedelta(minutes=minutes),
    )
