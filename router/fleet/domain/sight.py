"""What one look shows of one replica, and how far its record has come by it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from router.domain.drain import DrainProgress
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.domain.pool_view import ReplicaSeen
from router.fleet.domain.replica_lifecycle import ReplicaState, deadline_of, overdue
from router.fleet.domain.replica_record import Milestone, ReplicaRecord
from router.fleet.domain.warmth import Unfit, Warm, Warming, WarmLook

_WARM_UP = (Milestone.HEALTHY, Milestone.CANARY_RIGHT, Milestone.PREFIXES_WARM)
_INTO = {
    ReplicaState.WANTED: (Milestone.REQUESTED,),
    ReplicaState.STARTING: (Milestone.SCHEDULED, Milestone.PROCESS_UP),
    ReplicaState.WARMING: (Milestone.HEALTHY,),
    ReplicaState.READY: (Milestone.JOINED,),
    ReplicaState.DRAINING: (Milestone.DRAINING,),
    ReplicaState.FAILED: (Milestone.REQUESTED,),
}


UNWATCHED_SHARE = 2 / 3
"""How much of a deadline may run off while nobody looks after the pool."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks, and when. What a controller does itself for a replica, such as its warm-up, began with its watch."""

    names_replicas: bool
    """Of the pool's host."""
    since: float
    """Since when there has been a look at every round."""
    now: float
    start_s: float = 0.0
    """What a start may take by the rules of the pool."""


@dataclass(frozen=True, slots=True)
class Sight:
    hosted: HostedReplica | None
    """None: its host does not list it."""
    is_gone: bool = True
    """Of one that is not listed any more: whether that has lasted so long that it is believed."""
    is_known: bool | None = False
    """Whether the routers know of it; None: they cannot be asked."""
    drain: DrainProgress | None = None
    sessions: int | None = 0
    """None: the pins cannot be read."""
    look: WarmLook | None = None
    """None: its warm-up was not looked at."""
    is_mute: bool = False
    """It serves, and has generated nothing for too long."""


def advanced(record: ReplicaRecord, sight: Sight, watch: Watch) -> ReplicaRecord:
    """The record with the steps that were taken since, or with why it is given up."""
    if record.failure or record.has(Milestone.STOPPING):
        return record
    record = _looked_at(_hosted(record, sight.hosted, watch.now), sight.look, watch.now)
    failure = _failure(record, sight, names_replicas=watch.names_replicas) or overdue(
        state_of(record, sight), since=since(record, sight, watch), now=watch.now, start_s=watch.start_s
    )
    return replace(record, failure=failure) if failure else record


def state_of(record: ReplicaRecord, sight: Sight) -> ReplicaState:
    if record.failure:
        return ReplicaState.FAILED
    if record.has(Milestone.DRAINING) or sight.drain is not None:
        return ReplicaState.DRAINING
    if record.has(Milestone.JOINED) or sight.is_known:
        return ReplicaState.READY
    if record.has(Milestone.HEALTHY):
        return ReplicaState.WARMING
    return ReplicaState.STARTING if record.has(Milestone.SCHEDULED) else ReplicaState.WANTED


def since(record: ReplicaRecord, sight: Sight, watch: Watch) -> float:
    """When it came into its state, as far as that counts: a deadline that ran off while nobody looked is no deadline,
    weights may take as long as they take to come, and one that is warm waits for the routers alone.
    """
    state = state_of(record, sight)
    reached = max(record.reached.get(step, record.ordered) for step in _INTO[state])
    deadline = deadline_of(state, start_s=watch.start_s)
    if deadline is None:
        return reached
    if record.was_warm or (sight.hosted is not None and sight.hosted.phase is HostPhase.FETCHING):
        return watch.now
    return max(reached, watch.since - deadline.seconds * UNWATCHED_SHARE)


def seen(record: ReplicaRecord, sight: Sight, watch: Watch) -> ReplicaSeen:
    return ReplicaSeen(
        id=record.id,
        state=state_of(record, sight),
        since=since(record, sight, watch),
        ordered=record.ordered,
        # As long as it is open whether one is gone, nothing is let go for it: its place may be taken already.
        sessions=None if sight.hosted is None else sight.sessions,
        may_stop=sight.drain is not None and sight.drain.may_stop,
        may_return=record.has(Milestone.DRAINING),
    )


def guessed(records: Iterable[ReplicaRecord]) -> Sequence[ReplicaState]:
    """What the records alone say, while the host cannot be asked."""
    return [
        ReplicaState.READY if record.has(Milestone.JOINED) else ReplicaState.STARTING
        for record in records
        if not (record.failure or record.has(Milestone.STOPPING) or record.has(Milestone.DRAINING))
    ]


def _hosted(record: ReplicaRecord, hosted: HostedReplica | None, now: float) -> ReplicaRecord:
    if hosted is None:
        return record
    record = replace(record.at(Milestone.SCHEDULED, now), url=hosted.url or record.url)
    if hosted.phase is not HostPhase.RUNNING:
        return record
    return record.at(Milestone.WEIGHTS_LOCAL, now).at(Milestone.PROCESS_UP, now)


def _looked_at(record: ReplicaRecord, look: WarmLook | None, now: float) -> ReplicaRecord:
    match look:
        case Warm(report):
            return replace(_stepped(record, _WARM_UP, now), report=report)
        case Warming(reached) if reached is not None:
            # The last step is taken with its report: one that is warm is not looked at again.
            return _stepped(record, [step for step in _up_to(reached) if step is not Milestone.PREFIXES_WARM], now)
        case Warming() | Unfit() | None:
            return record
        case never:
            assert_never(never)


def _up_to(reached: Milestone) -> Sequence[Milestone]:
    return _WARM_UP[: _WARM_UP.index(reached) + 1]


def _stepped(record: ReplicaRecord, steps: Sequence[Milestone], now: float) -> ReplicaRecord:
    for step in steps:
        record = record.at(step, now)
    return record


def _failure(record: ReplicaRecord, sight: Sight, *, names_replicas: bool) -> str:
    if sight.hosted is None:
        # A host that names its replicas never gives a name twice; any other one starts again what it was asked for.
        had_it = record.has(Milestone.SCHEDULED if names_replicas else Milestone.PROCESS_UP)
        return "it is gone" if had_it and sight.is_gone else ""
    if sight.hosted.phase is HostPhase.EXITED:
        return sight.hosted.detail or "it ended by itself"
    if sight.hosted.phase is HostPhase.STOPPING:
        return "its host is taking it away"
    if isinstance(sight.look, Unfit):
        return sight.look.reason
    return "it generates nothing any more" if sight.is_mute else ""
