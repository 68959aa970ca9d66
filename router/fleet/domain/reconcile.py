"""What follows from one look at a pool: how its records are now, how its replicas stand, and what is to be mended.

The look is taken anew at each round, and the same look at the same moment changes nothing the second time. What was
ordered before and has not come about (the controller was killed, a host lost it, the routers' memory was wiped) is
ordered again, which is nothing where it has.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from router.domain.fleet import ReplicaId
from router.fleet.domain.hosted import HostPhase
from router.fleet.domain.matching import Change, Matched
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_view import ReplicaSeen
from router.fleet.domain.replica_record import Milestone, ReplicaRecord
from router.fleet.domain.sight import Sight, Watch, advanced, seen


class Mend(StrEnum):
    START = "start again"
    """It was ordered, and its host has nothing of it."""
    JOIN = "join"
    """It is warm, and the routers do not know of it yet, or not any more."""
    DRAIN = "drain again"
    STOP = "stop again"
    FORGET = "forget"
    """It was stopped, and is gone."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    records: Mapping[ReplicaId, ReplicaRecord]
    changes: tuple[Change, ...]
    """What is to be kept of it before anything else is done."""
    seen: tuple[ReplicaSeen, ...]
    """Without those that are being stopped."""
    mends: tuple[tuple[ReplicaId, Mend], ...]
    failed: tuple[PastStart, ...]
    """Starts that failed and are told to the ledger with the end of their records."""


def reconcile(found: Matched, sights: Mapping[ReplicaId, Sight], watch: Watch) -> Reconciled:
    """`sights` has one for each record."""
    records = {replica: advanced(record, sights[replica], watch) for replica, record in found.records.items()}
    renamed = {change.record.id: change.instead_of for change in found.changes}
    return Reconciled(
        records=records,
        changes=tuple(
            Change(record, renamed.get(replica))
            for replica, record in records.items()
            if replica in renamed or record != found.records[replica]
        ),
        seen=tuple(
            seen(record, sights[replica], watch)
            for replica, record in records.items()
            if not record.has(Milestone.STOPPING)
        ),
        mends=tuple(_mends(records.values(), sights)),
        failed=tuple(
            start for record in records.values() if (start := failed_start(record, now=watch.now)) is not None
        ),
    )


def failed_start(record: ReplicaRecord, *, now: float) -> PastStart | None:
    """What its failure says of starts; None where it did not fail, had served, was not started by an order, or was
    never begun: a host that takes no order is asked again at each round, and a pause would only make that later.
    """
    if not record.failure or record.has(Milestone.JOINED) or record.was_taken_in:
        return None
    if not record.has(Milestone.SCHEDULED):
        return None
    return PastStart(record.ordered, record.reached.get(Milestone.STOPPING, now), went_warm=False)


def mend_of(record: ReplicaRecord, sight: Sight) -> Mend | None:
    if record.has(Milestone.STOPPING):
        return _end_of(record, sight)
    if record.failure or sight.is_known is None:
        return _start_of(record, sight)
    if record.has(Milestone.DRAINING):
        return Mend.DRAIN if sight.drain is None else None
    if record.has(Milestone.JOINED):
        return None if sight.is_known else Mend.JOIN
    if record.has(Milestone.PREFIXES_WARM) or sight.is_known:
        return Mend.JOIN
    return _start_of(record, sight)


def _mends(records: Iterable[ReplicaRecord], sights: Mapping[ReplicaId, Sight]) -> Iterable[tuple[ReplicaId, Mend]]:
    return ((record.id, mend) for record in records if (mend := mend_of(record, sights[record.id])) is not None)


def _start_of(record: ReplicaRecord, sight: Sight) -> Mend | None:
    is_to_come = not (record.failure or record.has(Milestone.PROCESS_UP))
    return Mend.START if sight.hosted is None and is_to_come else None


def _end_of(record: ReplicaRecord, sight: Sight) -> Mend | None:
    if not _is_out(record, sight):
        return Mend.STOP
    if sight.hosted is None:
        return Mend.FORGET
    return None if sight.hosted.phase is HostPhase.STOPPING else Mend.STOP


def _is_out(record: ReplicaRecord, sight: Sight) -> bool:
    """Whether the routers have nothing of it."""
    return sight.is_known is False or (sight.is_known is None and not record.was_warm)
