"""What the public API answers operators about the fleet's plan; members that are not named here are left alone."""

from datetime import datetime

from gateway.cli.wire import Answer


class FloorView(Answer):
    replicas: int
    until: datetime | None = None
    set_by: str = ""
    reason: str = ""


class PoolFloorView(Answer):
    model: str
    minimum: int = 0
    maximum: int
    floor: FloorView | None = None


class LeadView(Answer):
    ahead_s: float
    source: str
    start_s: float
    measured_p95_s: float | None = None
    starts: int = 0


class StepView(Answer):
    at: datetime
    seats: int
    needs: int
    wanted: int


class ShortageView(Answer):
    starts_at: datetime
    ends_at: datetime
    needs: int
    allows: int
    text: str


class BellView(Answer):
    at: datetime
    in_s: float
    needs: int
    ready: int | None = None


class ClassView(Answer):
    id: str
    name: str
    starts_at: datetime
    ends_at: datetime
    seats: int


class MilestoneView(Answer):
    step: str
    at: datetime


class WarmReportView(Answer):
    canary: str
    first_token_cold_ms: float
    first_token_warm_ms: float
    prefixes: int
    took_s: float


class PlannedReplicaView(Answer):
    id: str
    url: str | None = None
    state: str
    since: datetime
    waits_for: str = ""
    deadline: datetime | None = None
    failure: str = ""
    milestones: tuple[MilestoneView, ...] = ()
    warm_report: WarmReportView | None = None


class RoundView(Answer):
    at: datetime
    leader: str
    wanted: int | None = None
    ready: int
    present: int
    wait: str = ""
    alert: str | None = None
    alert_bell: datetime | None = None


class PlannedPoolView(Answer):
    model: str
    host: str | None = None
    dry_run: bool = False
    minimum: int
    maximum: int
    reserve: int
    seats_per_replica: int
    lead: LeadView
    is_looked_after: bool
    last_round: RoundView | None = None
    next_bell: BellView | None = None
    floor: FloorView | None = None
    steps: tuple[StepView, ...]
    shortages: tuple[ShortageView, ...] = ()
    classes: tuple[ClassView, ...] = ()
    other_classes: int = 0
    replicas: tuple[PlannedReplicaView, ...] = ()


class UnpooledView(Answer):
    model: str
    classes: int


class FleetPlanView(Answer):
    at: datetime
    since: datetime
    until: datetime
    leader: str | None = None
    last_round_at: datetime | None = None
    is_looked_after: bool
    pools: tuple[PlannedPoolView, ...]
    unpooled: tuple[UnpooledView, ...] = ()
