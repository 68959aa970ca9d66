"""Pins that this process has used, in its memory, kept true by what the other routers tell.

What may be believed, for how long, and what window remains stands in docs/decisions/0009.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin, PinnedLoad
from router.domain.pin_record import Move, PinRecord, Touched
from router.errors import PinStoreUnavailable
from router.ports import PinStore

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_TOUCH_S = 2.0
_BATCH = 200
_PATIENCE = 8
_NEVER = 0


class SharedPins(PinStore, Protocol):
    """The store behind the cache; `redis_pins` says what its methods do."""

    async def find(self, key: AffinityKey) -> PinRecord | None: ...

    async def win(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        demand: Demand,
        prefer: ReplicaId | None,
    ) -> PinRecord: ...

    async def touch(self, used: Sequence[tuple[AffinityKey, Pin]]) -> Touched: ...

    async def restore(self, lost: Sequence[tuple[AffinityKey, PinRecord]]) -> Sequence[PinRecord]: ...

    async def settle(self) -> None: ...


class MoveFeed(Protocol):
    """How the other routers' moves are heard; `redis_moves` says what its methods do."""

    @property
    def number(self) -> int: ...
    def tell(self, heard: Callable[[Move], None]) -> None: ...
    def vouches(self, now: float) -> bool: ...
    def has_unread(self) -> bool: ...
    async def run(self) -> None: ...


@dataclass(slots=True)
class _Entry:
    record: PinRecord
    heard_on: int
    """The subscription on which it has been kept true since; _NEVER: on none."""
    used: float


class CachedPins(PinStore):
    """`run` must be running; until it is, and whenever the feed is down, every call goes through to the store."""

    def __init__(
        self,
        *,
        store: SharedPins,
        feed: MoveFeed,
        ttl_s: float,
        most: int = 100_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._feed = feed
        self._ttl_s = ttl_s
        self._most = most
        self._clock = clock
        self._entries: OrderedDict[AffinityKey, _Entry] = OrderedDict()
        self._used: dict[AffinityKey, None] = {}
        self._asking: Counter[AffinityKey] = Counter()
        self._told_meanwhile: dict[AffinityKey, Pin | None] = {}
        self._epoch = ""
        feed.tell(self._heard)

    @override
    async def get(self, key: AffinityKey) -> Pin | None:
        entry = self._believed(key)
        if entry is not None and self._feed.has_unread():
            # What is on the socket may be about this very session.
            entry = self._believed(key) if await self._all_heard() else None
        if entry is None:
            return await self._ask(key)
        self._used[key] = None
        return entry.record.pin

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
        heard_on = self._feed.number
        with self._asked(key):
            won = await self._store.win(key, candidates, replacing=replacing, demand=demand, prefer=prefer)
            self._keep(key, won, heard_on)
        if replacing is not None:
            await self._settle()
        return won.pin

    @override
    async def end(self, key: AffinityKey) -> None:
        self._entries.pop(key, None)
        await self._store.end(key)
        self._entries.pop(key, None)
        await self._settle()

    @override
    async def loads(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, PinnedLoad]:
        return await self._store.loads(replicas)

    @override
    async def pinned(self, replica: ReplicaId, *, limit: int) -> Sequence[tuple[AffinityKey, Pin]]:
        return await self._store.pinned(replica, limit=limit)

    async def run(self) -> None:
        """Listen for ever, and tell the store what is in use."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._feed.run())
            group.create_task(self._keep_touching())

    async def _settle(self) -> None:
        """Have the others told before the caller goes on; one round trip, for moves and ends only."""
        with suppress(PinStoreUnavailable):  # what was to be done is done
            await self._store.settle()

    def _believed(self, key: AffinityKey) -> _Entry | None:
        entry = self._entries.get(key)
        if entry is None or entry.heard_on != self._feed.number:
            return None
        now = self._clock()
        if now - entry.used >= self._ttl_s or not self._feed.vouches(now):
            return None
        entry.used = now
        self._entries.move_to_end(key)
        return entry

    async def _all_heard(self) -> bool:
        """Whether the event loop has read what had arrived, for which it needs a round or two."""
        for _ in range(_PATIENCE):
            await asyncio.sleep(0)
            if not self._feed.has_unread():
                return True
        return False

    async def _ask(self, key: AffinityKey) -> Pin | None:
        heard_on = self._feed.number
        with self._asked(key):
            found = await self._store.find(key)
            if found is not None:
                self._keep(key, found, heard_on)
                return found.pin
        if entry := self._entries.get(key):
            entry.heard_on = _NEVER
        return None

    @contextmanager
    def _asked(self, key: AffinityKey) -> Iterator[None]:
        """While the store is asked, note what is told of this session: the answer may be older than that."""
        self._asking[key] += 1
        try:
            yield
        finally:
            self._asking[key] -= 1
            if not self._asking[key]:
                del self._asking[key]
                self._told_meanwhile.pop(key, None)

    def _keep(self, key: AffinityKey, record: PinRecord, heard_on: int) -> None:
        if self._told_meanwhile.get(key, record.pin) != record.pin:
            return
        self._entries[key] = _Entry(record, heard_on, self._clock())
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def _heard(self, move: Move) -> None:
        if move.key in self._asking:
            self._told_meanwhile[move.key] = move.pin
        entry = self._entries.get(move.key)
        if entry is None or entry.record.pin == move.pin:
            return
        if move.pin is not None and move.pin.generation > entry.record.pin.generation:
            entry.record = PinRecord(move.pin, entry.record.demand)
            entry.heard_on = self._feed.number
        else:  # ended; or a session that began anew, or old news: the store will say
            del self._entries[move.key]

    async def _keep_touching(self) -> None:
        while True:
            await asyncio.sleep(_TOUCH_S)
            with suppress(PinStoreUnavailable):  # whoever needs a pin meets the outage too, and tells
                await self.touch_used()

    async def touch_used(self) -> None:
        """Tell the store which pins were used, and correct what it knows better."""
        while True:
            names = list(islice(self._used, _BATCH))
            batch = [(name, entry.record.pin) for name in names if (entry := self._entries.get(name))]
            touched = await self._store.touch(batch)
            for name in names:
                self._used.pop(name, None)
            if self._epoch in ("", touched.epoch):
                self._correct(batch, touched)
            else:
                await self._restore()
            self._epoch = touched.epoch
            if len(names) < _BATCH:
                return

    def _correct(self, batch: Sequence[tuple[AffinityKey, Pin]], touched: Touched) -> None:
        for key, believed in batch:
            entry = self._entries.get(key)
            if key not in touched.wrong or entry is None or entry.record.pin != believed:
                continue
            truth = touched.wrong[key]
            if truth is None:
                del self._entries[key]
            else:
                entry.record = truth

    async def _restore(self) -> None:
        """The store has forgotten everything: tell it what was true as far as we know."""
        oldest_line = self._feed.number - 1
        lost = [
            (key, entry.record)
            for key, entry in self._entries.items()
            if entry.heard_on != _NEVER and entry.heard_on >= oldest_line
        ]
        _log.warning("pin store was emptied", restoring=len(lost))
        for start in range(0, len(lost), _BATCH):
            batch = lost[start : start + _BATCH]
            heard_on = self._feed.number
            for (key, record), now_there in zip(batch, await self._store.restore(batch), strict=True):
                entry = self._entries.get(key)
                if entry is not None and entry.record == record:
                    entry.record, entry.heard_on = now_there, heard_on
