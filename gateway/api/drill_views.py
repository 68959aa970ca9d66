"""What callers get to see of drills."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from gateway.api.fleet_plan_views import ShortageView
from gateway.api.views import View
from gateway.drill_strain import ToldStrain
from sessions.domain.class_rows import Change, ImportStep
from sessions.domain.drill import Drill, DrillId
from sessions.domain.series import Series

_MOST_CHANGES = 200


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
    series_id: UUID | None
    """null: it does not repeat."""
    created_by: UUID
    created_at: datetime

    @classmethod
    def of(cls, drill: Drill) -> Self:
        return cls(**_members(drill))


class OverlapView(View):
    id: UUID
    name: str


class StrainView(View):
    """What a class asks of the replicas that serve it, together with all others at its time."""

    pool: str
    replicas_needed: int
    replicas_allowed: int
    shortages: tuple[ShortageView, ...]
    overlaps: tuple[OverlapView, ...]
    warning: str | None
    """Why its replicas may come too late."""
    text: str
    """All that is amiss, in words; empty: nothing is."""

    @classmethod
    def of(cls, told: ToldStrain | None) -> Self | None:
        if told is None:
            return None
        strain = told.strain
        return cls(
            pool=strain.pool,
            replicas_needed=strain.needs,
            replicas_allowed=strain.allows,
            shortages=tuple(ShortageView.of(each) for each in strain.shortages),
            overlaps=tuple(OverlapView(id=UUID(drill), name=name) for drill, name in told.overlaps),
            warning=strain.warning or None,
            text=strain.text,
        )


class StrainedDrillView(DrillView):
    strain: StrainView | None
    """null: its pool is not configured, it is not to be held, or it cannot be told now."""

    @classmethod
    def told(cls, drill: Drill, told: ToldStrain | None) -> Self:
        return cls(**_members(drill), strain=StrainView.of(told))


class SeriesView(View):
    id: UUID
    cron: str
    timezone: str
    minutes: int
    first_at: datetime
    last_at: datetime
    created_by: UUID
    created_at: datetime
    drills: tuple[StrainedDrillView, ...]

    @classmethod
    def of(cls, series: Series, drills: Sequence[StrainedDrillView]) -> Self:
        return cls(
            id=series.id,
            cron=series.rhythm.cron,
            timezone=series.rhythm.timezone,
            minutes=series.rhythm.minutes,
            first_at=series.first_at,
            last_at=series.last_at,
            created_by=series.created_by,
            created_at=series.created_at,
            drills=tuple(drills),
        )


class ImportedView(View):
    """One class with which something was done, or would be."""

    change: str
    id: UUID
    """In a trial, that of a new drill will be another one."""
    name: str
    starts_at: datetime
    text: str
    """What is amiss with its replicas; empty: nothing is."""


class ImportView(View):
    dry_run: bool
    source: str
    added: int
    changed: int
    cancelled: int
    unchanged: int
    left_alone: int
    """They were cancelled or archived here, and stay so."""
    changes: tuple[ImportedView, ...]
    """The first of those that are not unchanged."""

    @classmethod
    def of(
        cls, steps: Sequence[ImportStep], strains: Mapping[DrillId, ToldStrain], *, source: str, trial: bool
    ) -> Self:
        counts = Counter(taken.change for taken in steps)
        return cls(
            dry_run=trial,
            source=source,
            added=counts[Change.ADDED],
            changed=counts[Change.CHANGED],
            cancelled=counts[Change.CANCELLED],
            unchanged=counts[Change.UNCHANGED],
            left_alone=counts[Change.LEFT_ALONE],
            changes=tuple(_imported(taken, strains.get(taken.drill.id)) for taken in shown(steps)),
        )


def shown(steps: Sequence[ImportStep]) -> Sequence[ImportStep]:
    """Those that are told of one by one."""
    return [taken for taken in steps if taken.change is not Change.UNCHANGED][:_MOST_CHANGES]


def _imported(taken: ImportStep, told: ToldStrain | None) -> ImportedView:
    drill = taken.drill
    return ImportedView(
        change=taken.change,
        id=drill.id,
        name=drill.plan.name,
        starts_at=drill.plan.starts_at,
        text="" if told is None else told.strain.text,
    )


def _members(drill: Drill) -> dict[str, Any]:
    plan = drill.plan
    return {
        "id": drill.id,
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
        "series_id": drill.series,
        "created_by": drill.created_by,
        "created_at": drill.created_at,
    }
