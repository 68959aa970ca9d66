"""What the API answers about drills, as a caller reads it: all of it, since --json prints it."""

from datetime import datetime

from gateway.cli.fleet_plan_wire import ShortageView
from gateway.cli.wire import Answer


class OverlapView(Answer):
    id: str
    name: str


class StrainView(Answer):
    pool: str
    replicas_needed: int
    replicas_allowed: int
    shortages: tuple[ShortageView, ...] = ()
    overlaps: tuple[OverlapView, ...] = ()
    warning: str | None = None
    text: str = ""


class DrillView(Answer):
    id: str
    name: str
    scenario_id: str
    starts_at: datetime
    ends_at: datetime
    expected_trainees: int
    seats: int | None = None
    walk_ins: int = 0
    turns_in_flight: int | None = None
    state: str
    version: int
    series_id: str | None = None
    created_by: str
    created_at: datetime
    strain: StrainView | None = None


class SeriesView(Answer):
    id: str
    cron: str
    timezone: str
    minutes: int
    first_at: datetime
    last_at: datetime
    created_by: str
    created_at: datetime
    drills: tuple[DrillView, ...]


class ImportedView(Answer):
    change: str
    id: str
    name: str
    starts_at: datetime
    text: str = ""


class ImportView(Answer):
    dry_run: bool
    source: str
    added: int
    changed: int
    cancelled: int
    unchanged: int
    left_alone: int
    changes: tuple[ImportedView, ...] = ()
