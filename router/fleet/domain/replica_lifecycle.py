"""The life of one replica, from the wish for it to its end: states, what leads from one to another, and deadlines."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ReplicaState(StrEnum):
    WANTED = "wanted"
    """It was ordered; no host has it yet."""
    STARTING = "starting"
    """A host has it: weights are fetched, the process comes up."""
    WARMING = "warming"
    """It answers; its canary and the scenarios' prefixes are being computed."""
    READY = "ready"
    """Warm. Only now it is given sessions."""
    DRAINING = "draining"
    """It gets no new session, and those it has move or end."""
    STOPPED = "stopped"
    FAILED = "failed"
    """It ended by itself, or was not warm in time. Another one is started in its place; this one never comes back."""


class ReplicaEvent(StrEnum):
    PLACED = "placed"
    ANSWERED = "answered"
    WARMED = "warmed"
    DRAINED = "drained"
    """It is to go, and the routers are told."""
    KEPT = "kept"
    """It is wanted again before it was empty."""
    STOPPED = "stopped"
    FAILED = "failed"


class IllegalStep(ValueError):
    """What was seen cannot happen to a replica in this state."""

    def __init__(self, state: ReplicaState, event: ReplicaEvent) -> None:
        super().__init__(f"a replica that is {state} cannot be {event}")
        self.state = state
        self.event = event


@dataclass(frozen=True, slots=True)
class Deadline:
    """How long a replica may stay in a state, and what is said when it stays longer."""

    seconds: float
    reason: str


# The whole life; what is not in the table is an error. A replica that serves is never stopped without a drain.
TRANSITIONS: Mapping[tuple[ReplicaState, ReplicaEvent], ReplicaState] = {
    (ReplicaState.WANTED, ReplicaEvent.PLACED): ReplicaState.STARTING,
    (ReplicaState.WANTED, ReplicaEvent.STOPPED): ReplicaState.STOPPED,
    (ReplicaState.WANTED, ReplicaEvent.FAILED): ReplicaState.FAILED,
    (ReplicaState.STARTING, ReplicaEvent.ANSWERED): ReplicaState.WARMING,
    (ReplicaState.STARTING, ReplicaEvent.STOPPED): ReplicaState.STOPPED,
    (ReplicaState.STARTING, ReplicaEvent.FAILED): ReplicaState.FAILED,
    (ReplicaState.WARMING, ReplicaEvent.WARMED): ReplicaState.READY,
    (ReplicaState.WARMING, ReplicaEvent.STOPPED): ReplicaState.STOPPED,
    (ReplicaState.WARMING, ReplicaEvent.FAILED): ReplicaState.FAILED,
    (ReplicaState.READY, ReplicaEvent.DRAINED): ReplicaState.DRAINING,
    (ReplicaState.READY, ReplicaEvent.FAILED): ReplicaState.FAILED,
    (ReplicaState.DRAINING, ReplicaEvent.KEPT): ReplicaState.READY,
    (ReplicaState.DRAINING, ReplicaEvent.STOPPED): ReplicaState.STOPPED,
    (ReplicaState.DRAINING, ReplicaEvent.FAILED): ReplicaState.FAILED,
    (ReplicaState.FAILED, ReplicaEvent.STOPPED): ReplicaState.STOPPED,
}

# The engine itself gives up after 600 s. A drain has its deadline on the routers' board, which knows the turns.
DEADLINES: Mapping[ReplicaState, Deadline] = {
    ReplicaState.WANTED: Deadline(120.0, "no host took it"),
    ReplicaState.STARTING: Deadline(660.0, "it did not answer in time"),
    ReplicaState.WARMING: Deadline(300.0, "its canary and its prefixes were not done in time"),
}

ON_THEIR_WAY = frozenset({ReplicaState.WANTED, ReplicaState.STARTING, ReplicaState.WARMING})


def after(state: ReplicaState, event: ReplicaEvent) -> ReplicaState:
    """Raises `IllegalStep`."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalStep(state, event) from None


def overdue(state: ReplicaState, *, since: float, now: float) -> str | None:
    """Why a replica that has been in a state since then is given up; None: it is not."""
    deadline = DEADLINES.get(state)
    return deadline.reason if deadline is not None and now - since > deadline.seconds else None
