"""What is remembered of the fleet, in this process alone: for tests, and for weeks that are simulated."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import KEPT_STARTS, Floor, PoolBook, Round
from router.fleet.domain.replica_record import ReplicaRecord
from router.fleet.errors import NotLeading
from router.fleet.ports import Ledger, Register


class MemoryLedger(Ledger, Register):
    """`leads` tells whether this process may write."""

    def __init__(self, *, leads: Callable[[], bool] = lambda: True) -> None:
        self._leads = leads
        self._records: defaultdict[PoolName, dict[ReplicaId, ReplicaRecord]] = defaultdict(dict)
        self._starts: defaultdict[PoolName, list[PastStart]] = defaultdict(list)
        self._floors: dict[PoolName, Floor] = {}
        self._rounds: dict[PoolName, Round] = {}

    @override
    async def read(self, pool: PoolName) -> PoolBook:
        return await self.book(pool)

    @override
    async def save(self, record: ReplicaRecord, *, instead_of: ReplicaId | None = None) -> None:
        self._check()
        records = self._records[record.pool]
        if instead_of is not None:
            records.pop(instead_of, None)
        records[record.id] = record

    @override
    async def forget(self, record: ReplicaRecord, *, start: PastStart | None = None) -> None:
        self._check()
        if self._records[record.pool].pop(record.id, None) is not None and start is not None:
            self._tell(record.pool, start)

    @override
    async def tell(self, pool: PoolName, start: PastStart) -> None:
        self._check()
        self._tell(pool, start)

    @override
    async def show(self, round_: Round) -> None:
        self._check()
        self._rounds[round_.pool] = round_

    @override
    async def rounds(self) -> Sequence[Round]:
        return [self._rounds[pool] for pool in sorted(self._rounds)]

    @override
    async def book(self, pool: PoolName) -> PoolBook:
        records, starts = self._records[pool], self._starts[pool]
        return PoolBook(pool, dict(records), tuple(starts), self._floors.get(pool))

    @override
    async def set_floor(self, pool: PoolName, floor: Floor | None) -> None:
        if floor is None:
            self._floors.pop(pool, None)
        else:
            self._floors[pool] = floor

    def _check(self) -> None:
        if not self._leads():
            raise NotLeading("this process does not lead")

    def _tell(self, pool: PoolName, start: PastStart) -> None:
        starts = self._starts[pool]
        starts.append(start)
        del starts[:-KEPT_STARTS]
