"""Replicas that are figures, as the controller's host."""

from collections.abc import Callable, Sequence

from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.simulated.machines import Machine, Machines
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.errors import HostUnavailable
from router.fleet.ports import ReplicaHost


class SimulatedHost(ReplicaHost):
    """`stopped` is told of every order to stop a replica, before it is obeyed."""

    def __init__(
        self,
        *,
        machines: Machines,
        clock: Callable[[], float],
        stopped: Callable[[ReplicaId], None] = lambda _: None,
    ) -> None:
        self._machines = machines
        self._clock = clock
        self._stopped = stopped

    @property
    @override
    def names_replicas(self) -> bool:
        return False

    @override
    async def list(self) -> Sequence[HostedReplica]:
        self._check()
        return [self._hosted(machine) for machine in self._machines.here().values()]

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        self._check()
        self._machines.start(replica)

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        self._check()

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        self._check()
        self._stopped(replica)
        self._machines.stop(replica)

    def _check(self) -> None:
        if self._machines.is_cut:
            raise HostUnavailable("the simulated host cannot be asked")

    def _hosted(self, machine: Machine) -> HostedReplica:
        if machine.gone_at < float("inf"):
            phase, detail = HostPhase.STOPPING, ""
        elif machine.ends_at <= self._clock():
            phase, detail = HostPhase.EXITED, "it ended with code 1, as simulated"
        else:
            phase, detail = HostPhase.RUNNING, ""
        return HostedReplica(machine.id, phase, machine.since, url=f"http://{machine.id}.simulated", detail=detail)
