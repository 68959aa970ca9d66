"""Pins that other routers write at the same time."""

import asyncio
from collections.abc import Sequence

from typing_extensions import override

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin
from tests.support.fragile_pins import FragilePins


class RivalPins(FragilePins):
    """Another router is always one step ahead, and pins to a replica of its own choice."""

    def __init__(self, rival: ReplicaId, *, times: int) -> None:
        super().__init__()
        self._rival = rival
        self._times = times

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
        if self._times:
            self._times -= 1
            await super().claim(key, [self._rival], replacing=replacing, demand=demand)
        return await super().claim(key, candidates, replacing=replacing, demand=demand, prefer=prefer)


class SlowPins(FragilePins):
    """Its claims take a while, as a store elsewhere does."""

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
        for _ in range(5):
            await asyncio.sleep(0)
        return await super().claim(key, candidates, replacing=replacing, demand=demand, prefer=prefer)
