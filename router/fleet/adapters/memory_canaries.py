"""Canaries' answers in this process alone."""

from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.domain.canary import Hearing, KnownAnswer, heard
from router.fleet.domain.demand import PoolName
from router.fleet.ports import Canaries


class MemoryCanaries(Canaries):
    def __init__(self) -> None:
        self._known: dict[tuple[PoolName, str], tuple[KnownAnswer, ...]] = {}

    @override
    async def hear(self, pool: PoolName, fingerprint: str, answer: str, replica: ReplicaId) -> Hearing:
        hearing = heard(self._known.get((pool, fingerprint), ()), answer, replica)
        self._known[pool, fingerprint] = hearing.known
        return hearing
