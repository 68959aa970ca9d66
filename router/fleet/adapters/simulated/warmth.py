"""The warm-up of replicas that are figures: it takes its time, and begins anew with each controller."""

from collections.abc import Callable, Sequence

from typing_extensions import override

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.simulated.machines import Fate, Machines
from router.fleet.domain.replica_record import Milestone, WarmReport
from router.fleet.domain.warmth import Prefix, Unfit, Warm, Warming, WarmLook
from router.fleet.ports import Warmth


class SimulatedWarmth(Warmth):
    def __init__(self, *, machines: Machines, clock: Callable[[], float]) -> None:
        self._machines = machines
        self._clock = clock
        self._since: dict[ReplicaId, float] = {}
        self.frozen: set[ReplicaId] = set()
        """They run, and generate nothing."""

    @override
    async def look(self, replica: ReplicaSpec, prefixes: Sequence[Prefix]) -> WarmLook:
        machine, now = self._machines.here().get(replica.id), self._clock()
        if machine is None or now < machine.answers_at:
            return Warming()
        # Whoever looks only now and then still begins as soon as it answers: the real warm-up goes on between rounds.
        since = self._since.setdefault(replica.id, now)
        if now - since < machine.warm_up_s:
            return Warming(Milestone.HEALTHY)
        if machine.fate is Fate.UNFIT:
            return Unfit("its canary answer is not the pool's")
        return Warm(WarmReport("simulated", 0.0, 0.0, len(prefixes), took_s=machine.warm_up_s))

    @override
    async def still_answers(self, replica: ReplicaSpec) -> bool | None:
        machine = self._machines.here().get(replica.id)
        is_up = machine is not None and self._clock() < machine.ends_at
        return is_up and replica.id not in self.frozen

    @override
    async def forget(self, replica: ReplicaId) -> None:
        self._since.pop(replica, None)
