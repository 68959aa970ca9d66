"""A fleet that is only said to be looked after: what would be done is told, and nothing outside of here changes.

The controller looks anew at each round and orders again whatever has not come about. A host that merely said what it
would do would be told the same again and again, and every order would run into its deadline, be given up, counted as a
start that failed, and be replaced by the next. So what was ordered is pretended to be so: what would be started is
listed as running and counts as warm at once, what would be stopped is listed no longer, and routers and ledger are
covered in the same way. Each deed is told once, and the rounds come to rest. The pretence lasts as long as the process.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.drain import unhurried
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import PoolBook, Round
from router.fleet.domain.replica_record import ReplicaRecord, WarmReport
from router.fleet.domain.warmth import Prefix, Warm, WarmLook
from router.fleet.ports import Ledger, ReplicaHost, Routers, RoutersState, Warmth

NOTE: Final = "dry run: nothing of this is done"
KEPT: Final = 200
_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(slots=True)
class Said:
    """The last things that would have been done, in this process; they go to the log too."""

    kept: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))

    def __call__(self, deed: str, replica: ReplicaId) -> None:
        self.kept.append(f"would {deed} {replica}")
        _log.info("dry run: this would be done", deed=deed, replica=replica)


class DryRunHost(ReplicaHost):
    """Lists what its host has, less what would be stopped and with what would be started."""

    def __init__(self, *, host: ReplicaHost, clock: Callable[[], float], said: Said) -> None:
        self._host = host
        self._clock = clock
        self._said = said
        self._started: dict[ReplicaId, HostedReplica] = {}
        self._stopped: set[ReplicaId] = set()
        self._there: set[ReplicaId] = set()

    @property
    @override
    def names_replicas(self) -> bool:
        return self._host.names_replicas

    @override
    async def list(self) -> Sequence[HostedReplica]:
        real = await self._host.list()
        self._there = {replica.id for replica in real}
        self._stopped &= self._there
        return [*(replica for replica in real if replica.id not in self._stopped), *self._started.values()]

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        if replica not in self._started and replica not in self._there:
            self._said("start", replica)
            # Nobody asks there: it counts as warm, and no router hears of it.
            url = f"http://{replica}.invalid"
            self._started[replica] = HostedReplica(replica, HostPhase.RUNNING, self._clock(), url, NOTE)

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        """Nothing: it changes nothing that is listed."""

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        if self._started.pop(replica, None) is not None or replica in self._there - self._stopped:
            self._said("stop", replica)
        self._stopped.add(replica)


class DryRunWarmth(Warmth):
    """Everything is warm, for nothing is asked."""

    @override
    async def look(self, replica: ReplicaSpec, prefixes: Sequence[Prefix]) -> WarmLook:
        return Warm(
            WarmReport(canary="", first_token_cold_ms=0.0, first_token_warm_ms=0.0, prefixes=0, took_s=0.0),
        )

    @override
    async def still_answers(self, replica: ReplicaSpec) -> bool | None:
        return None

    @override
    async def forget(self, replica: ReplicaId) -> None: ...


class DryRunRouters(Routers):
    """The routers' own state, with what they would have been told."""

    def __init__(self, *, routers: Routers, said: Said) -> None:
        self._routers = routers
        self._said = said
        self._known: set[ReplicaId] = set()
        self._joined: dict[ReplicaId, ReplicaSpec] = {}
        self._draining: set[ReplicaId] = set()
        self._left: set[ReplicaId] = set()

    @override
    async def state(self, replicas: Sequence[ReplicaId]) -> RoutersState:
        real = await self._routers.state(replicas)
        self._known = set(real.joined)
        self._left &= real.joined.keys() | real.drains.keys()
        joined = {name: spec for name, spec in {**real.joined, **self._joined}.items() if name not in self._left}
        drains = {name: progress for name, progress in real.drains.items() if name not in self._left}
        live = real.live_sessions
        ours = {name: unhurried(name, pinned=None if live is None else live.get(name, 0)) for name in self._draining}
        return RoutersState(joined=joined, drains={**ours, **drains}, live_sessions=live)

    @override
    async def join(self, replica: ReplicaSpec) -> None:
        if replica.id not in self._known | self._joined.keys():
            self._said("give sessions to", replica.id)
        self._joined[replica.id] = replica
        self._draining.discard(replica.id)
        self._left.discard(replica.id)

    @override
    async def drain(self, replica: ReplicaId) -> None:
        if replica not in self._draining:
            self._said("drain", replica)
        self._draining.add(replica)

    @override
    async def keep(self, replica: ReplicaId) -> None:
        if replica in self._draining:
            self._said("keep", replica)
        self._draining.discard(replica)

    @override
    async def leave(self, replica: ReplicaId) -> None:
        self._joined.pop(replica, None)
        self._draining.discard(replica)
        self._left.add(replica)


class DryRunLedger(Ledger):
    """What is remembered for others is read, and only the rounds are written, each with a note of what it is."""

    def __init__(self, *, ledger: Ledger) -> None:
        self._ledger = ledger
        self._saved: defaultdict[PoolName, dict[ReplicaId, ReplicaRecord]] = defaultdict(dict)
        self._forgotten: defaultdict[PoolName, set[ReplicaId]] = defaultdict(set)

    @override
    async def read(self, pool: PoolName) -> PoolBook:
        book = await self._ledger.read(pool)
        self._forgotten[pool] &= book.records.keys()
        real = {name: record for name, record in book.records.items() if name not in self._forgotten[pool]}
        return replace(book, records={**real, **self._saved[pool]})

    @override
    async def save(self, record: ReplicaRecord, *, instead_of: ReplicaId | None = None) -> None:
        if instead_of is not None:
            self._forget(record.pool, instead_of)
        self._saved[record.pool][record.id] = record

    @override
    async def forget(self, record: ReplicaRecord, *, start: PastStart | None = None) -> None:
        self._forget(record.pool, record.id)

    @override
    async def tell(self, pool: PoolName, start: PastStart) -> None:
        """Nothing: no start was measured."""

    @override
    async def show(self, round_: Round) -> None:
        await self._ledger.show(replace(round_, wait=f"{NOTE}; {round_.wait}" if round_.wait else NOTE))

    def _forget(self, pool: PoolName, replica: ReplicaId) -> None:
        self._saved[pool].pop(replica, None)
        self._forgotten[pool].add(replica)
