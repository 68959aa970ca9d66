"""Which record each replica of a host belongs to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, ordered

CLOCKS_DIFFER_S = 60.0
"""How far a host's clock may be from the controller's."""


@dataclass(frozen=True, slots=True)
class Change:
    """A record that is to be kept as it is here."""

    record: ReplicaRecord
    instead_of: ReplicaId | None = None
    """The id it had before its host named it."""


@dataclass(frozen=True, slots=True)
class Matched:
    records: Mapping[ReplicaId, ReplicaRecord]
    changes: tuple[Change, ...]


def matched(
    records: Mapping[ReplicaId, ReplicaRecord],
    hosted: Iterable[HostedReplica],
    *,
    pool: PoolName,
    names_replicas: bool,
    now: float,
) -> Matched:
    """Every replica that its host lists has a record afterwards, unless it is going anyway.

    Where the host names its replicas, the oldest order without a replica takes the oldest replica without a record.
    What nobody ordered is taken in: somebody scaled by hand, or the ledger was lost.
    """
    here = {replica.id: replica for replica in hosted}
    unknown = sorted(
        (here[name] for name in here.keys() - records.keys() if here[name].phase is not HostPhase.STOPPING),
        key=lambda replica: (replica.since, replica.id),
    )
    orders = _waiting(records[name] for name in records.keys() - here.keys()) if names_replicas else []
    changes = tuple(_matches(unknown, orders, pool=pool, now=now))
    taken = {change.instead_of for change in changes}
    kept = {replica: record for replica, record in records.items() if replica not in taken}
    return Matched({**kept, **{change.record.id: change.record for change in changes}}, changes)


def is_awaited(record: ReplicaRecord) -> bool:
    """Whether it was ordered, and no host has had it."""
    return not (record.failure or record.has(Milestone.SCHEDULED) or record.has(Milestone.STOPPING))


def _waiting(records: Iterable[ReplicaRecord]) -> list[ReplicaRecord]:
    return sorted((record for record in records if is_awaited(record)), key=lambda record: (record.ordered, record.id))


def _matches(
    unknown: Sequence[HostedReplica], orders: list[ReplicaRecord], *, pool: PoolName, now: float
) -> Iterator[Change]:
    for replica in unknown:
        order = next((order for order in orders if _may_be(order, replica)), None)
        if order is None:
            yield Change(ordered(replica.id, pool, now=now).at(Milestone.SCHEDULED, now))
        else:
            orders.remove(order)
            yield Change(replace(order, id=replica.id).at(Milestone.SCHEDULED, now), instead_of=order.id)


def _may_be(order: ReplicaRecord, replica: HostedReplica) -> bool:
    """What ended before an order was given was not started by it."""
    return replica.phase is not HostPhase.EXITED or replica.since >= order.ordered - CLOCKS_DIFFER_S
