"""A `Probe` in this process that answers as it was told, and remembers what it was asked."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from typing_extensions import override

from router.domain.engine_metrics import EngineMetrics
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.domain.health import Observation
from router.domain.sighting import Look, Sighting
from router.ports import Probe

HERE = Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics(tokens_total=7))
GONE = Sighting(Observation.PROBE_FAILED, "cannot be reached")
FIT = Sighting(Observation.ACCEPTED, models=frozenset({"m"}))
GENERATES = Sighting(Observation.CANARY_PASSED, took_ms=1.0)


class FakeProbe(Probe):
    """Every replica is well until something else is told of it; the last thing told goes on."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, ReplicaId]] = Counter()
        self.hanging: set[tuple[str, ReplicaId]] = set()
        self._looks: defaultdict[ReplicaId, list[Look]] = defaultdict(lambda: [HERE])
        self._registrations: defaultdict[ReplicaId, list[Look]] = defaultdict(lambda: [FIT])
        self._canaries: defaultdict[ReplicaId, list[Look]] = defaultdict(lambda: [GENERATES])

    def looks(self, replica: ReplicaId, *looks: Look) -> None:
        self._looks[replica] = list(looks)

    def registers(self, replica: ReplicaId, *looks: Look) -> None:
        self._registrations[replica] = list(looks)

    def generates(self, replica: ReplicaId, *looks: Look) -> None:
        self._canaries[replica] = list(looks)

    @override
    async def look(self, spec: ReplicaSpec) -> Look:
        return await self._answer("look", spec.id, self._looks[spec.id])

    @override
    async def register(self, spec: ReplicaSpec) -> Look:
        return await self._answer("register", spec.id, self._registrations[spec.id])

    @override
    async def try_out(self, spec: ReplicaSpec, models: Collection[str]) -> Look:
        assert models
        return await self._answer("try out", spec.id, self._canaries[spec.id])

    async def _answer(self, what: str, replica: ReplicaId, answers: list[Look]) -> Look:
        self.asked[what, replica] += 1
        if (what, replica) in self.hanging:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        return answers.pop(0) if len(answers) > 1 else answers[0]


def moving(start: int, steps: int) -> Iterable[Sighting]:
    """Looks between which the engine has worked."""
    return (Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics(tokens_total=start + n)) for n in range(steps))
