"""What callers get to see of drills."""

from datetime import datetime
from typing import Self
from uuid import UUID

from gateway.api.views import View
from sessions.domain.drill import Drill


class DrillView(View):
    id: UUID
    name: str
    scenario_id: UUID
    starts_at: datetime
    ends_at: datetime
    expected_trainees: int
    seats: int | None
    """null: every session has a seat."""
    walk_ins: int
    turns_in_flight: int | None
    state: str
    version: int
    created_by: UUID
    created_at: datetime

    @classmethod
    def of(cls, drill: Drill) -> Self:
        plan = drill.plan
        return cls(
            id=drill.id,
            name=plan.name,
            scenario_id=plan.scenario,
            starts_at=plan.starts_at,
            ends_at=plan.ends_at,
            expected_trainees=plan.expected_trainees,
            seats=plan.seats,
            walk_ins=plan.walk_ins,
            turns_in_flight=plan.turns_in_flight,
            state=drill.state,
            version=drill.version,
            created_by=drill.created_by,
            created_at=drill.created_at,
        )
