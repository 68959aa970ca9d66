"""What is known of one pool at one moment. What could not be learnt is None, which is never taken for nothing."""

from dataclasses import dataclass

from router.domain.fleet import ReplicaId
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.replica_lifecycle import ON_THEIR_WAY, ReplicaState, overdue
from router.fleet.domain.steps import Steps


@dataclass(frozen=True, slots=True)
class ReplicaSeen:
    """One replica, as its host and the routers tell of it."""

    id: ReplicaId
    state: ReplicaState
    since: float
    """When it came into this state."""
    ordered: float
    """When its start was decided."""
    sessions: int | None = 0
    """None: the pins cannot be read."""
    may_stop: bool = False
    """Of one that drains: every router agrees, and nothing runs there (`router.domain.drain`)."""
    may_return: bool = True
    """Of one that drains: whether it may be taken back. A drain that an operator ordered is his to end."""


@dataclass(frozen=True, slots=True)
class PoolView:
    replicas: tuple[ReplicaSeen, ...] | None
    """None: the host cannot be asked."""
    seats: Steps | None
    """What the calendar asks (`demand`), with the hour before now, so that short gaps are seen; None: not known."""
    strays: int | None = 0
    """Sessions that no running class accounts for: those past their end, and those of no class. None: not known."""
    starts: tuple[PastStart, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranks:
    """A pool's replicas by what may be done with them."""

    lost: tuple[tuple[ReplicaSeen, str], ...]
    """Those that failed or are given up, each with why."""
    late: tuple[ReplicaSeen, ...]
    """On their way for longer than a start should take. They may still come, and are not counted on."""
    coming: tuple[ReplicaSeen, ...]
    ready: tuple[ReplicaSeen, ...]
    draining: tuple[ReplicaSeen, ...]

    @property
    def present(self) -> int:
        """Those that serve, and those that should in time."""
        return len(self.coming) + len(self.ready)

    @property
    def occupied(self) -> int:
        """Those that hold a place of the pool. One that is lost gives its place up as it is removed."""
        return self.present + len(self.late) + len(self.draining)

    @property
    def sessions(self) -> int | None:
        """Sessions on all of them; None where one of them is not known."""
        counts = [replica.sessions for replica in (*self.ready, *self.draining)]
        return None if None in counts else sum(count or 0 for count in counts)


def ranked(replicas: tuple[ReplicaSeen, ...], *, start_s: float, now: float, longest_s: float = 0.0) -> Ranks:
    """By id within each rank, so that the order in which they are told does not matter.

    `start_s`: what a start is given before another one is begun beside it; `longest_s`: before it is given up, where
    that is longer than usual.
    """
    ordered = sorted(replicas, key=lambda replica: replica.id)
    lost = {replica.id: why for replica in ordered if (why := _lost(replica, now, longest_s)) is not None}
    living = [replica for replica in ordered if replica.id not in lost]
    on_their_way = [replica for replica in living if replica.state in ON_THEIR_WAY]
    return Ranks(
        lost=tuple((replica, lost[replica.id]) for replica in ordered if replica.id in lost),
        late=tuple(replica for replica in on_their_way if now - replica.ordered > start_s),
        coming=tuple(replica for replica in on_their_way if now - replica.ordered <= start_s),
        ready=tuple(replica for replica in living if replica.state is ReplicaState.READY),
        draining=tuple(replica for replica in living if replica.state is ReplicaState.DRAINING),
    )


def _lost(replica: ReplicaSeen, now: float, longest_s: float) -> str | None:
    if replica.state is ReplicaState.FAILED:
        return "it failed"
    return overdue(replica.state, since=replica.since, now=now, start_s=longest_s)
