"""A drill: a class that plays one scenario at one time, with seats for those who are expected."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import AccountId, TenantId
from sessions.errors import DrillClosed, DrillInvalid, IllegalTransition

DrillId = NewType("DrillId", UUID)
SeriesId = NewType("SeriesId", UUID)

MAX_PEOPLE = 1_000_000
"""Of a drill; also the most turns of it that may be set to run at once."""
_YEARS = range(1970, 9999)
"""A lead before the first of them, and any zone's clock after the last one, are still moments."""


class DrillState(StrEnum):
    SCHEDULED = "scheduled"
    CANCELLED = "cancelled"
    ARCHIVED = "archived"
    """Over and out of the way; its sessions and its row are kept."""


class DrillEvent(StrEnum):
    CHANGE = "change"
    CANCEL = "cancel"
    ARCHIVE = "archive"


# The whole lifecycle; what is not in the table is an error.
TRANSITIONS: Mapping[tuple[DrillState, DrillEvent], DrillState] = {
    (DrillState.SCHEDULED, DrillEvent.CHANGE): DrillState.SCHEDULED,
    (DrillState.SCHEDULED, DrillEvent.CANCEL): DrillState.CANCELLED,
    (DrillState.CANCELLED, DrillEvent.CANCEL): DrillState.CANCELLED,
    (DrillState.SCHEDULED, DrillEvent.ARCHIVE): DrillState.ARCHIVED,
    (DrillState.CANCELLED, DrillEvent.ARCHIVE): DrillState.ARCHIVED,
    (DrillState.ARCHIVED, DrillEvent.ARCHIVE): DrillState.ARCHIVED,
}


@dataclass(frozen=True, slots=True)
class DrillPlan:
    """What an instructor sets."""

    name: str
    scenario: ScenarioId
    starts_at: datetime
    ends_at: datetime
    """From then on no new session begins in it; those that run go on."""
    expected_trainees: int
    seats: int | None = None
    """Sessions whose turns are never refused for want of capacity; None: every session has a seat."""
    walk_ins: int = 0
    """How many more may come once every seat is taken."""
    turns_in_flight: int | None = None
    """While so many turns of the drill run, those of walk-ins wait; None: they never do."""


@dataclass(frozen=True, slots=True)
class Drill:
    """`version` grows by one with every change and guards each of them."""

    id: DrillId
    tenant: TenantId
    plan: DrillPlan
    created_by: AccountId
    created_at: datetime
    state: DrillState = DrillState.SCHEDULED
    version: int = 1
    series: SeriesId | None = None
    """The classes that it repeats with."""
    import_key: str | None = None
    """What it is called in the file that it came from; no two drills of a tenant have the same."""


def checked(plan: DrillPlan) -> DrillPlan:
    """The plan, if it can be held; raises `DrillInvalid` with the field otherwise."""
    if not plan.name.strip():
        raise DrillInvalid("name", "the name is empty")
    if plan.ends_at <= plan.starts_at:
        raise DrillInvalid("ends_at", "a drill ends after it has started")
    for field, moment in (("starts_at", plan.starts_at), ("ends_at", plan.ends_at)):
        if moment.year not in _YEARS:
            raise DrillInvalid(field, f"a drill is held in the years {_YEARS[0]} to {_YEARS[-1]}")
    _within("expected_trainees", plan.expected_trainees, least=1)
    _within("seats", plan.seats, least=0)
    _within("walk_ins", plan.walk_ins, least=0)
    _within("turns_in_flight", plan.turns_in_flight, least=1)
    if plan.seats == 0 and plan.walk_ins == 0:
        raise DrillInvalid("seats", "nobody could ever take part")
    return plan


def changed(drill: Drill, plan: DrillPlan) -> Drill:
    """The drill by another plan; raises `DrillInvalid`, or `IllegalTransition` once it is cancelled or archived."""
    state = _after(drill.state, DrillEvent.CHANGE)
    return replace(drill, plan=checked(plan), state=state, version=drill.version + 1)


def ended(drill: Drill, event: DrillEvent) -> Drill:
    """The drill cancelled or archived; one that is so already stays as it is. Raises `IllegalTransition`."""
    state = _after(drill.state, event)
    return drill if state is drill.state else replace(drill, state=state, version=drill.version + 1)


def admit(drill: Drill, scenario: ScenarioId, *, now: datetime) -> None:
    """Raises `DrillClosed` or `DrillInvalid` unless a session of this scenario may begin in the drill."""
    if drill.state is not DrillState.SCHEDULED:
        raise DrillClosed(drill.state)
    if now >= drill.plan.ends_at:
        raise DrillClosed("over")
    if scenario != drill.plan.scenario:
        raise DrillInvalid("scenario_id", "the drill plays another scenario")


def _after(state: DrillState, event: DrillEvent) -> DrillState:
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(state, event) from None


def _within(field: str, value: int | None, *, least: int) -> None:
    if value is not None and not least <= value <= MAX_PEOPLE:
        raise DrillInvalid(field, f"it is {least} to {MAX_PEOPLE}, not {value}")
