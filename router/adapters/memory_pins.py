"""Pins in this process's memory; the definition that `redis_pins` follows."""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from math import inf

from typing_extensions import override

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.leavers import Leavers
from router.domain.pin import Demand, InUse, Pin, PinnedLoad
from router.domain.placement import choose
from router.domain.rendezvous import start_of
from router.ports import PinStore, PinUse

_NOTHING = PinnedLoad()
_HOLDS_S = 3600.0
"""A replica whose sessions of a cohort were all silent for so long has given its prefix up."""
_HELD_TO_S = 0.2
"""When it was last used is known to so much, since every turn tells it."""
_NOWHERE: Mapping[ReplicaId, float] = {}


@dataclass(slots=True)
class _Session:
    pin: Pin
    demand: Demand
    used: float


class _Cohorts:
    """Which replicas hold the prefix of a cohort."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, dict[ReplicaId, float]] = OrderedDict()  # in the order of last use

    def hold(self, cohort: str, replica: ReplicaId, now: float) -> None:
        if not cohort or now - self._held.get(cohort, _NOWHERE).get(replica, -inf) < _HELD_TO_S:
            return
        self._held.setdefault(cohort, {})[replica] = now
        self._held.move_to_end(cohort)
        while max(next(iter(self._held.values())).values()) <= now - _HOLDS_S:
            self._held.popitem(last=False)

    def holders(self, cohort: str, now: float) -> set[ReplicaId]:
        return {replica for replica, at in self._held.get(cohort, {}).items() if at > now - _HOLDS_S}


class MemoryPins(PinStore, PinUse):
    """For one process."""

    def __init__(
        self, *, ttl_s: float, cohort_bound: float = 1.05, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_s = ttl_s
        self._cohort_bound = cohort_bound
        self._clock = clock
        # Both in the order of last use.
        self._sessions: OrderedDict[AffinityKey, _Session] = OrderedDict()
        self._at: defaultdict[ReplicaId, OrderedDict[AffinityKey, _Session]] = defaultdict(OrderedDict)
        self._loads: dict[ReplicaId, PinnedLoad] = {}
        self._cohorts = _Cohorts()
        self._leavers = Leavers()

    @override
    async def get(self, key: AffinityKey) -> Pin | None:
        now = self._forget_the_unused()
        session = self._sessions.get(key)
        if session is None:
            return None
        session.used = now
        self._sessions.move_to_end(key)
        self._at[session.pin.replica].move_to_end(key)
        self._cohorts.hold(session.demand.cohort, session.pin.replica, now)
        return session.pin

    @override
    async def claim(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        demand: Demand,
        prefer: ReplicaId | None = None,
    ) -> Pin:
        now = self._forget_the_unused()
        stored = self._sessions.get(key)
        if stored is not None:
            if stored.pin != replacing:
                return stored.pin
            self._drop(key)
        replica = self._choose(key, [prefer] if prefer in candidates and prefer else candidates, demand, now)
        session = _Session(Pin(replica, 1 if replacing is None else replacing.generation + 1), demand, now)
        self._add(key, session)
        if stored is not None and stored.pin.replica != replica:
            self._leavers.note(stored.pin.replica, stored.demand, now)
        self._cohorts.hold(session.demand.cohort, session.pin.replica, now)
        return replace(session.pin, is_won=True)

    @override
    async def end(self, key: AffinityKey) -> None:
        self._drop(key)

    @override
    async def loads(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, PinnedLoad]:
        self._forget_the_unused()
        return {replica: self._loads.get(replica, _NOTHING) for replica in replicas}

    @override
    async def pinned(self, replica: ReplicaId, *, limit: int) -> Sequence[tuple[AffinityKey, Pin]]:
        self._forget_the_unused()
        here = self._at.get(replica, OrderedDict())
        return [(key, session.pin) for key, session in islice(here.items(), limit)]

    @override
    async def in_use(self, replicas: Sequence[ReplicaId], *, within_s: float) -> InUse:
        after = self._forget_the_unused() - within_s
        return InUse({replica: self._used_after(replica, after) for replica in replicas})

    def _used_after(self, replica: ReplicaId, moment: float) -> int:
        here = self._at.get(replica, OrderedDict())
        return sum(1 for _ in takewhile(lambda session: session.used > moment, reversed(here.values())))

    def _choose(self, key: AffinityKey, candidates: Sequence[ReplicaId], demand: Demand, now: float) -> ReplicaId:
        return choose(
            candidates,
            self._leavers.counted(self._loads, now),
            demand=demand,
            holders=self._cohorts.holders(demand.cohort, now),
            bound=self._cohort_bound,
            start=start_of(key),
        )

    def _add(self, key: AffinityKey, session: _Session) -> None:
        replica = session.pin.replica
        load = self._loads.get(replica, _NOTHING)
        self._loads[replica] = PinnedLoad(load.sessions + 1, load.kv_tokens + session.demand.kv_tokens)
        self._sessions[key] = self._at[replica][key] = session

    def _drop(self, key: AffinityKey) -> None:
        session = self._sessions.pop(key, None)
        if session is None:
            return
        replica = session.pin.replica
        here, load = self._at[replica], self._loads[replica]
        del here[key]
        self._loads[replica] = PinnedLoad(load.sessions - 1, load.kv_tokens - session.demand.kv_tokens)
        if not here:
            del self._at[replica], self._loads[replica]

    def _forget_the_unused(self) -> float:
        """The time, as of which nothing is left that nobody used for its time to live."""
        now = self._clock()
        while self._sessions:
            key, oldest = next(iter(self._sessions.items()))
            if oldest.used > now - self._ttl_s:
                break
            self._drop(key)
        return now
