"""Where a replica is in its life, what it waits for and until when: what is remembered of it, in operators' words."""

from collections.abc import Mapping
from dataclasses import dataclass

from router.fleet.domain.replica_lifecycle import ReplicaState, deadline_of
from router.fleet.domain.replica_record import Milestone, ReplicaRecord

# The latest step that was taken says both; a replica that was given up is told by its failure alone.
_AT: Mapping[Milestone, tuple[ReplicaState, str]] = {
    Milestone.REQUESTED: (ReplicaState.WANTED, "its host to take it"),
    Milestone.SCHEDULED: (ReplicaState.STARTING, "its process"),
    Milestone.WEIGHTS_LOCAL: (ReplicaState.STARTING, "its process"),
    Milestone.PROCESS_UP: (ReplicaState.STARTING, "its first answer"),
    Milestone.HEALTHY: (ReplicaState.WARMING, "its canary"),
    Milestone.CANARY_RIGHT: (ReplicaState.WARMING, "its prefixes"),
    Milestone.PREFIXES_WARM: (ReplicaState.WARMING, "the routers to take it"),
    Milestone.JOINED: (ReplicaState.READY, ""),
    Milestone.DRAINING: (ReplicaState.DRAINING, "its sessions to move or end"),
    Milestone.STOPPING: (ReplicaState.DRAINING, "its host to stop it"),
}


@dataclass(frozen=True, slots=True)
class ReplicaLife:
    record: ReplicaRecord
    state: ReplicaState
    since: float
    """When it came into this state."""
    waits_for: str
    """Empty: for nothing."""
    start_s: float = 0.0
    """What a start may take by the rules of its pool."""

    @property
    def deadline(self) -> float | None:
        """When it is given up unless it has left the state by then; None: never."""
        found = deadline_of(self.state, start_s=self.start_s)
        return None if found is None else self.since + found.seconds


def life_of(record: ReplicaRecord, *, start_s: float = 0.0) -> ReplicaLife:
    taken = [step for step in Milestone if step in record.reached]
    state, waits_for = _AT[taken[-1]]
    if record.failure:
        return ReplicaLife(record, ReplicaState.FAILED, max(record.reached.values()), "")
    first = next(step for step in taken if _AT[step][0] is state)
    return ReplicaLife(record, state, record.reached[first], waits_for, start_s)
