"""What operators send and see of the fleet's plan; what nobody knows is null."""

from datetime import UTC, datetime
from typing import Self

from pydantic import Field

from gateway.api.requests import Line, Moment, Sent
from gateway.api.views import View
from gateway.domain.pool_outlook import Bell, LeadInForce, Step
from gateway.domain.replica_life import ReplicaLife
from gateway.domain.rfc3339 import moment_of
from gateway.fleet_plan import FleetPlan, OwnClass, PlannedPool
from router.fleet.domain.demand import seats_of
from router.fleet.domain.pool_book import Floor, Round
from router.fleet.domain.replica_record import Milestone, WarmReport
from router.fleet.domain.timeline import Shortage
from router.fleet.settings import PoolSettings

_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


class ScaleBody(Sent):
    """Replicas that a pool is to have at least, whatever the calendar says."""

    replicas: int = Field(ge=1, le=2_000)
    until: Moment | None = Field(default=None, description="when the calendar alone decides again; null: never")
    reason: Line = Field(default="", description="shown to all operators of the fleet")

    @property
    def until_moment(self) -> datetime | None:
        return None if self.until is None else moment_of(self.until)


class FloorView(View):
    replicas: int
    until: datetime | None
    """null: until it is taken back."""
    set_by: str
    """The operator's account."""
    reason: str

    @classmethod
    def of(cls, floor: Floor) -> Self:
        return cls(replicas=floor.replicas, until=_moment(floor.until), set_by=floor.set_by, reason=floor.reason)


class PoolFloorView(View):
    model: str
    minimum: int
    maximum: int
    floor: FloorView | None

    @classmethod
    def of(cls, settings: PoolSettings, floor: Floor | None) -> Self:
        shown = None if floor is None else FloorView.of(floor)
        return cls(model=settings.model, minimum=settings.minimum, maximum=settings.maximum, floor=shown)


class LeadView(View):
    ahead_s: float
    """How long before a bell its replicas are wanted at the latest."""
    source: str
    """What this comes from: configured, measured, or assumed until enough starts were measured."""
    start_s: float
    """What one start is given."""
    measured_p95_s: float | None
    starts: int
    """How many starts that went warm are known."""

    @classmethod
    def of(cls, found: LeadInForce) -> Self:
        return cls(
            ahead_s=found.lead.ahead_s,
            source=found.source,
            start_s=found.lead.start_s,
            measured_p95_s=found.measured_s,
            starts=found.starts,
        )


class StepView(View):
    """What holds from a moment until the next step's."""

    at: datetime
    seats: int
    needs: int
    wanted: int

    @classmethod
    def of(cls, step: Step) -> Self:
        return cls(at=_at(step.at), seats=step.seats, needs=step.needs, wanted=step.wanted)


class ShortageView(View):
    starts_at: datetime
    ends_at: datetime
    needs: int
    allows: int
    text: str

    @classmethod
    def of(cls, found: Shortage) -> Self:
        return cls(
            starts_at=_at(found.begins),
            ends_at=_at(found.ends),
            needs=found.needs,
            allows=found.allows,
            text=str(found),
        )


class BellView(View):
    at: datetime
    in_s: float
    needs: int
    ready: int | None

    @classmethod
    def of(cls, bell: Bell, now: float) -> Self:
        return cls(at=_at(bell.at), in_s=round(bell.at - now, 3), needs=bell.needs, ready=bell.ready)


class ClassView(View):
    """A class of the own tenant."""

    id: str
    name: str
    starts_at: datetime
    ends_at: datetime
    seats: int

    @classmethod
    def of(cls, own: OwnClass) -> Self:
        booking = own.booking
        return cls(
            id=booking.id,
            name=own.name,
            starts_at=_at(booking.begins),
            ends_at=_at(booking.ends),
            seats=seats_of(booking),
        )


class MilestoneView(View):
    step: str
    at: datetime


class WarmReportView(View):
    canary: str
    first_token_cold_ms: float
    first_token_warm_ms: float
    prefixes: int
    took_s: float


class PlannedReplicaView(View):
    id: str
    url: str | None
    state: str
    since: datetime
    waits_for: str
    """Empty: for nothing."""
    deadline: datetime | None
    """When it is given up unless it has left this state."""
    failure: str
    milestones: tuple[MilestoneView, ...]
    warm_report: WarmReportView | None

    @classmethod
    def of(cls, life: ReplicaLife) -> Self:
        record = life.record
        return cls(
            id=record.id,
            url=record.url or None,
            state=life.state,
            since=_at(life.since),
            waits_for=life.waits_for,
            deadline=_moment(life.deadline),
            failure=record.failure,
            milestones=tuple(
                MilestoneView(step=step, at=_at(record.reached[step])) for step in Milestone if step in record.reached
            ),
            warm_report=_report(record.report),
        )


class RoundView(View):
    """What was seen and decided at `at`, which may be long ago."""

    at: datetime
    leader: str
    wanted: int | None
    ready: int
    present: int
    wait: str
    """Why no more was done; empty: nothing else was to be done."""
    alert: str | None
    """Such as "4 of 6 replicas are ready"; null: none."""
    alert_bell: datetime | None

    @classmethod
    def of(cls, last: Round) -> Self:
        return cls(
            at=_at(last.at),
            leader=last.leader,
            wanted=last.wanted,
            ready=last.ready,
            present=last.present,
            wait=last.wait,
            alert=last.short or None,
            alert_bell=_moment(last.short_at),
        )


class PlannedPoolView(View):
    model: str
    host: str | None
    """What runs its replicas; null: the plan is shown, and nobody carries it out."""
    dry_run: bool
    minimum: int
    maximum: int
    reserve: int
    seats_per_replica: int
    lead: LeadView
    is_looked_after: bool
    """Whether its last round is as young as rounds should be: a minute, or three of them where they are rarer."""
    last_round: RoundView | None
    next_bell: BellView | None
    floor: FloorView | None
    steps: tuple[StepView, ...]
    shortages: tuple[ShortageView, ...]
    classes: tuple[ClassView, ...]
    other_classes: int
    """How many there are of other tenants."""
    replicas: tuple[PlannedReplicaView, ...]

    @classmethod
    def of(cls, pool: PlannedPool, now: float) -> Self:
        settings, found = pool.settings, pool.outlook
        host = settings.host
        return cls(
            model=settings.model,
            host=None if host is None else host.kind,
            dry_run=settings.dry_run,
            minimum=settings.minimum,
            maximum=settings.maximum,
            reserve=settings.reserve,
            seats_per_replica=settings.seats_per_replica,
            lead=LeadView.of(found.lead),
            next_bell=None if found.next_bell is None else BellView.of(found.next_bell, now),
            floor=None if found.floor is None else FloorView.of(found.floor),
            steps=tuple(map(StepView.of, found.steps)),
            shortages=tuple(map(ShortageView.of, found.shortages)),
            classes=tuple(map(ClassView.of, pool.own)),
            other_classes=pool.others,
            replicas=tuple(map(PlannedReplicaView.of, found.replicas)),
            is_looked_after=found.is_looked_after,
            last_round=None if found.last_round is None else RoundView.of(found.last_round),
        )


class UnpooledView(View):
    """A model without a pool, which classes want all the same."""

    model: str
    classes: int


class FleetPlanView(View):
    at: datetime
    since: datetime
    until: datetime
    leader: str | None
    """The process that looks after the fleet, or did last."""
    last_round_at: datetime | None
    is_looked_after: bool
    """Whether the last round is as young as rounds should be."""
    pools: tuple[PlannedPoolView, ...]
    unpooled: tuple[UnpooledView, ...]

    @classmethod
    def of(cls, plan: FleetPlan) -> Self:
        window, last = plan.window, plan.last_round
        return cls(
            at=_at(window.now),
            since=_at(window.since),
            until=_at(window.until),
            leader=None if last is None else last.leader,
            last_round_at=None if last is None else _at(last.at),
            is_looked_after=plan.is_looked_after,
            pools=tuple(PlannedPoolView.of(pool, window.now) for pool in plan.pools),
            unpooled=tuple(UnpooledView(model=model, classes=count) for model, count in sorted(plan.unpooled.items())),
        )


def _report(report: WarmReport | None) -> WarmReportView | None:
    return None if report is None else WarmReportView.model_validate(report)


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else _at(seconds)


def _at(seconds: float) -> datetime:
    # As seconds, the last microsecond of all is the year 10000; a class of former times may end then.
    return datetime.fromtimestamp(min(seconds, _LATEST), UTC)
