"""A session: one trainee's run through one version of a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from sessions.domain.drill import DrillId
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import IllegalTransition

SessionId = NewType("SessionId", UUID)


class State(StrEnum):
    OPEN = "open"
    CLOSED = "closed"


class Event(StrEnum):
    TURN = "turn"
    SCENE = "scene"
    CLOSE = "close"


# The whole lifecycle; what is not in the table is an error.
TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.OPEN, Event.TURN): State.OPEN,
    (State.OPEN, Event.SCENE): State.OPEN,
    (State.OPEN, Event.CLOSE): State.CLOSED,
    (State.CLOSED, Event.CLOSE): State.CLOSED,
}


def after(state: State, event: Event) -> State:
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(state, event) from None


@dataclass(frozen=True, slots=True)
class Session:
    """`version` grows by one with every change and guards each of them; `turn_count` is the number of the last turn."""

    id: SessionId
    tenant: TenantId
    trainee: AccountId
    scenario: ScenarioId
    scenario_version: int
    scene: str
    opening: str
    created_at: datetime
    state: State = State.OPEN
    version: int = 1
    turn_count: int = 0
    note_count: int = 0
    """How many notes were ever written; it guards them as `version` guards everything else."""
    closed_at: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    drill: DrillId | None = None

    @property
    def is_open(self) -> bool:
        return self.state is State.OPEN

    @property
    def next_turn(self) -> int:
        """The number that the next turn will have."""
        return self.turn_count + 1

    def is_visible_to(self, viewer: Viewer) -> bool:
        return self.tenant == viewer.tenant and viewer.only_of in (None, self.trainee)


def with_turn(session: Session) -> Session:
    """The session once its next turn is written; raises `IllegalTransition` if it takes none."""
    state = after(session.state, Event.TURN)
    return replace(session, state=state, version=session.version + 1, turn_count=session.next_turn)


def in_scene(session: Session, scene: str) -> Session:
    """The session in this scene; one that is there already stays as it is, unless it is closed.

    Raises `IllegalTransition` if it takes no change.
    """
    state = after(session.state, Event.SCENE)
    if scene == session.scene:
        return session
    return replace(session, state=state, version=session.version + 1, scene=scene)


def closed(session: Session, *, at: datetime) -> Session:
    """The session closed at this moment; one that is closed already stays as it is."""
    state = after(session.state, Event.CLOSE)
    if state is session.state:
        return session
    return replace(session, state=state, version=session.version + 1, closed_at=at)


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions a list shows; None means any."""

    trainee: AccountId | None = None
    state: State | None = None
    drill: DrillId | None = None
