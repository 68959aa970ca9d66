"""Drills as rows, and rows as drills."""

from typing import Any

from sqlalchemy import Row

from sessions.domain.drill import Drill, DrillPlan, DrillState


def row_of(drill: Drill) -> dict[str, object]:
    """The whole row of a new drill."""
    return {
        "id": drill.id,
        "tenant_id": drill.tenant,
        "created_by": drill.created_by,
        "created_at": drill.created_at,
        "series_id": drill.series,
        "import_key": drill.import_key,
        **changing(drill),
    }


def changing(drill: Drill) -> dict[str, object]:
    """The columns that a change may write."""
    plan = drill.plan
    return {
        "name": plan.name,
        "scenario_id": plan.scenario,
        "starts_at": plan.starts_at,
        "ends_at": plan.ends_at,
        "expected_trainees": plan.expected_trainees,
        "seats": plan.seats,
        "walk_ins": plan.walk_ins,
        "turns_in_flight": plan.turns_in_flight,
        "state": drill.state,
        "version": drill.version,
    }


def drill_of(row: Row[Any]) -> Drill:
    return Drill(
        id=row.id,
        tenant=row.tenant_id,
        plan=DrillPlan(
            name=row.name,
            scenario=row.scenario_id,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            expected_trainees=row.expected_trainees,
            seats=row.seats,
            walk_ins=row.walk_ins,
            turns_in_flight=row.turns_in_flight,
        ),
        created_by=row.created_by,
        created_at=row.created_at,
        state=DrillState(row.state),
        version=row.version,
        series=row.series_id,
        import_key=row.import_key,
    )
