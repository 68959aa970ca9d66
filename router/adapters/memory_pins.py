"""Pins in this process's memory; the definition that `redis_pins` follows."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from typing_extensions import override

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Pin
from router.domain.placement import fewest_sessions
from router.ports import PinStore


class MemoryPins(PinStore):
    """For one process."""

    def __init__(self, *, ttl_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl_s = ttl_s
        self._clock = clock
        self._pins: dict[AffinityKey, tuple[Pin, float]] = {}

    @override
    async def get(self, key: AffinityKey) -> Pin | None:
        pin = self._living().get(key)
        if pin is not None:
            self._pins[key] = (pin, self._clock())
        return pin

    @override
    async def claim(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        prefer: ReplicaId | None = None,
    ) -> Pin:
        living = self._living()
        stored = living.pop(key, None)
        if stored is not None and stored != replacing:
            return stored
        counts = Counter(pin.replica for pin in living.values())
        replica = fewest_sessions(candidates, counts) if prefer is None or prefer not in candidates else prefer
        pin = Pin(replica, 1 if replacing is None else replacing.generation + 1)
        self._pins[key] = (pin, self._clock())
        return pin

    @override
    async def end(self, key: AffinityKey) -> None:
        self._pins.pop(key, None)

    @override
    async def sessions(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, int]:
        counts = Counter(pin.replica for pin in self._living().values())
        return {replica: counts[replica] for replica in replicas}

    def _living(self) -> dict[AffinityKey, Pin]:
        oldest = self._clock() - self._ttl_s
        self._pins = {key: entry for key, entry in self._pins.items() if entry[1] > oldest}
        return {key: pin for key, (pin, _) in self._pins.items()}
