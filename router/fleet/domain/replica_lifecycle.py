"""The life of one replica, from the wish for it to its end: the states it comes through, and how long each may last."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    FAILED = "failed"
    """It ended by itself, or was not warm in time. Another one is started in its place; this one never comes back."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """How long a replica may stay in a state, and what is said when it stays longer."""

    seconds: float
    reason: str


# The engine itself gives up after 600 s. A drain has its deadline on the routers' board, which knows the turns.
DEADLINES: Mapping[ReplicaState, Deadline] = {
    ReplicaState.WANTED: Deadline(120.0, "no host took it"),
    ReplicaState.STARTING: Deadline(660.0, "it did not answer in time"),
    ReplicaState.WARMING: Deadline(300.0, "its canary and its prefixes were not done in time"),
}

ON_THEIR_WAY = frozenset({ReplicaState.WANTED, ReplicaState.STARTING, ReplicaState.WARMING})


def deadline_of(state: ReplicaState, *, start_s: float = 0.0) -> Deadline | None:
    """`start_s`: what a start may well take by the rules of its pool, whose engine then was given longer, too."""
    found = DEADLINES.get(state)
    if found is None or state is not ReplicaState.STARTING:
        return found
    return replace(found, seconds=max(found.seconds, start_s))


def overdue(state: ReplicaState, *, since: float, now: float, start_s: float = 0.0) -> str | None:
    """Why a replica that has been in a state since then is given up; None: it is not."""
    deadline = deadline_of(state, start_s=start_s)
    return deadline.reason if deadline is not None and now - since > deadline.seconds else None
