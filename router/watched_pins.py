"""A pin store whose outages are counted, and logged once each."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin, PinnedLoad
from router.errors import PinStoreUnavailable
from router.ports import PinStore

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class WatchedPins(PinStore):
    """Passes every call on; the errors too, since only the caller knows what to do without a pin."""

    def __init__(self, pins: PinStore) -> None:
        self._pins = pins
        self.failures = 0
        self.lost = False

    @override
    async def get(self, key: AffinityKey) -> Pin | None:
        # As `_watched` does it, without what a context manager costs in every turn.
        try:
            pin = await self._pins.get(key)
        except PinStoreUnavailable as error:
            self._saw_failure(error)
            raise
        if self.lost:
            self._saw_success()
        return pin

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
        with self._watched():
            return await self._pins.claim(key, candidates, replacing=replacing, demand=demand, prefer=prefer)

    @override
    async def end(self, key: AffinityKey) -> None:
        with self._watched():
            await self._pins.end(key)

    @override
    async def loads(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, PinnedLoad]:
        with self._watched():
            return await self._pins.loads(replicas)

    @override
    async def pinned(self, replica: ReplicaId, *, limit: int) -> Sequence[tuple[AffinityKey, Pin]]:
        with self._watched():
            return await self._pins.pinned(replica, limit=limit)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except PinStoreUnavailable as error:
            self._saw_failure(error)
            raise
        if self.lost:
            self._saw_success()

    def _saw_failure(self, error: PinStoreUnavailable) -> None:
        self.failures += 1
        if not self.lost:
            _log.warning("pin store lost", detail=str(error))
        self.lost = True

    def _saw_success(self) -> None:
        _log.info("pin store back", failures=self.failures)
        self.lost = False
