"""Pins in memory that can be taken away."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from router.adapters.memory_pins import MemoryPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin, PinnedLoad
from router.errors import PinStoreUnavailable


class FragilePins(MemoryPins):
    """While `broken`, every call fails as a lost Redis does."""

    def __init__(self) -> None:
        super().__init__(ttl_s=3600)
        self.broken = False

    def _check(self) -> None:
        if self.broken:
            raise PinStoreUnavailable("switched off")

    @override
    async def get(self, key: AffinityKey) -> Pin | None:
        self._check()
        return await super().get(key)

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
        self._check()
        return await super().claim(key, candidates, replacing=replacing, demand=demand, prefer=prefer)

    @override
    async def end(self, key: AffinityKey) -> None:
        self._check()
        await super().end(key)

    @override
    async def loads(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, PinnedLoad]:
        self._check()
        return await super().loads(replicas)

    @override
    async def pinned(self, replica: ReplicaId, *, limit: int) -> Sequence[tuple[AffinityKey, Pin]]:
        self._check()
        return await super().pinned(replica, limit=limit)
