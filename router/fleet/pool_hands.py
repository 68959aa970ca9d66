"""Has one pool's decisions done: the ledger is told first, and then the world, so that the next leader goes on."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import Mark
from router.fleet.domain.matching import Change
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.reconcile import Mend, failed_start
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, ordered
from router.fleet.domain.scaling import Action, Move
from router.fleet.errors import HostUnavailable, NotLeading, RoutersUnavailable, WeightsUnusable
from router.fleet.keeping import Around, Deed, Pool

_NOT_DONE = (HostUnavailable, RoutersUnavailable, WeightsUnusable)


def spec_of(record: ReplicaRecord) -> ReplicaSpec:
    return ReplicaSpec(record.id, record.url, frozenset({record.pool}))


class PoolHands:
    """For one round. What one deed meets keeps no other from being done; only the ledger's errors go through."""

    def __init__(self, *, pool: Pool, around: Around, now: float, new_id: Callable[[PoolName], ReplicaId]) -> None:
        self._pool = pool
        self._around = around
        self._now = now
        self._new_id = new_id
        self._records: dict[ReplicaId, ReplicaRecord] = {}
        self.deeds: list[Deed] = []
        self.starts: list[PastStart] = []
        """Those that came to their end."""

    async def take_over(self, records: Mapping[ReplicaId, ReplicaRecord], changes: Sequence[Change]) -> None:
        self._records = dict(records)
        for change in changes:
            await self._around.ledger.save(change.record, instead_of=change.instead_of)

    async def mend(self, replica: ReplicaId, mend: Mend) -> None:
        record = self._records[replica]
        match mend:
            case Mend.START:
                await self._do(mend, record, "its host has nothing of it", self._start)
            case Mend.JOIN:
                why = "the routers do not know of it" if record.has(Milestone.JOINED) else "it is warm"
                await self._do(mend, record, why, self._join)
            case Mend.DRAIN:
                await self._do(mend, record, "the routers know of no drain", self._drain)
            case Mend.STOP:
                await self._do(mend, record, "it is not gone yet", self._stop)
            case Mend.FORGET:
                await self._forget(record)

    async def act(self, action: Action) -> None:
        if action.replica is None:
            record = ordered(self._new_id(self._pool.name), self._pool.name, now=self._now)
            await self._do(action.move, record, action.reason, self._start)
            return
        record = self._records[action.replica]
        reason = record.failure or action.reason
        match action.move:
            case Move.DRAIN:
                await self._do(action.move, record.at(Milestone.DRAINING, self._now), reason, self._drain)
            case Move.KEEP:
                await self._do(action.move, record, reason, self._keep)
            case Move.STOP | Move.START:
                await self._do(action.move, record.at(Milestone.STOPPING, self._now), reason, self._stop)

    async def mark(self, marks: dict[ReplicaId, Mark]) -> None:
        """`marks`: what the host was told before; it is told what is otherwise now."""
        for record in list(self._records.values()):
            mark = _mark_of(record)
            if mark is not None and marks.get(record.id) is not mark:
                await self._around.ledger.save(record)
                try:
                    await self._pool.host.mark(record.id, mark)
                    marks[record.id] = mark
                except HostUnavailable as error:
                    self.deeds.append(Deed(f"mark as {mark}", record.id, "", trouble=str(error)))
        for replica in marks.keys() - self._records.keys():
            del marks[replica]

    @property
    def _among(self) -> int:
        return sum(not (record.failure or record.has(Milestone.STOPPING)) for record in self._records.values())

    async def _do(
        self, what: str, record: ReplicaRecord, reason: str, work: Callable[[ReplicaRecord], Awaitable[None]]
    ) -> None:
        """It is written even where nothing of it changes: whoever may not write any more is stopped by that."""
        await self._save(record)
        trouble = ""
        try:
            await work(record)
        except _NOT_DONE as error:
            trouble = str(error)
        self.deeds.append(Deed(str(what), record.id, reason, trouble))

    async def _start(self, record: ReplicaRecord) -> None:
        await self._pool.host.start(record.id, among=self._among)

    async def _join(self, record: ReplicaRecord) -> None:
        await self._around.routers.join(spec_of(record))
        try:
            await self._save(record.at(Milestone.JOINED, self._now))
        except NotLeading:
            await self._leave_if_forgotten(record)
            raise
        if not (record.has(Milestone.JOINED) or record.was_taken_in):
            start = PastStart(record.ordered, self._now, went_warm=True)
            await self._around.ledger.tell(record.pool, start)
            self.starts.append(start)

    async def _leave_if_forgotten(self, record: ReplicaRecord) -> None:
        """This process stood still, and whoever leads has had the replica stopped: nobody else would take it back."""
        book = await self._around.ledger.read(record.pool)
        if record.id not in book.records:
            await self._around.routers.leave(record.id)

    async def _drain(self, record: ReplicaRecord) -> None:
        await self._around.routers.drain(record.id)

    async def _keep(self, record: ReplicaRecord) -> None:
        # Taken back before it is written: a drain that is on the board and not in the ledger is an operator's.
        await self._around.routers.keep(record.id)
        await self._save(record.without(Milestone.DRAINING))

    async def _stop(self, record: ReplicaRecord) -> None:
        await self._around.warmth.forget(record.id)
        if record.was_warm:
            await self._around.routers.leave(record.id)
        await self._pool.host.stop(record.id, among=self._among)

    async def _forget(self, record: ReplicaRecord) -> None:
        start = failed_start(record, now=self._now)
        await self._around.ledger.forget(record, start=start)
        await self._around.warmth.forget(record.id)
        del self._records[record.id]
        if start is not None:
            self.starts.append(start)
        self.deeds.append(Deed(str(Mend.FORGET), record.id, "it is gone"))

    async def _save(self, record: ReplicaRecord) -> None:
        await self._around.ledger.save(record)
        self._records[record.id] = record


def _mark_of(record: ReplicaRecord) -> Mark | None:
    if record.failure or record.has(Milestone.STOPPING) or not record.has(Milestone.JOINED):
        return None
    return Mark.LEAVING if record.has(Milestone.DRAINING) else Mark.SERVING
