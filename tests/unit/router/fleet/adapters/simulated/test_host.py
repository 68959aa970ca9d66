"""What a simulated host tells whoever watches it; what it promises as a host is in tests/contract."""

from random import Random

from router.domain.fleet import ReplicaId
from router.fleet.adapters.simulated.clock import Clock
from router.fleet.adapters.simulated.host import SimulatedHost
from router.fleet.adapters.simulated.machines import Machines
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.hosted import HostPhase

A = ReplicaId("a")


async def test_whoever_watches_hears_of_a_stop_before_it_is_obeyed() -> None:
    clock = Clock(0.0)
    machines = Machines(clock=clock, dice=Random(1), starts=ColdStarts(stop_s=10.0))  # noqa: S311 - a simulation
    heard: list[tuple[ReplicaId, float]] = []
    host = SimulatedHost(
        machines=machines, clock=clock, stopped=lambda replica: heard.append((replica, machines.here()[A].gone_at))
    )
    await host.start(A, among=1)
    await host.stop(A, among=0)
    assert heard == [(A, float("inf"))]
    assert [replica.phase for replica in await host.list()] == [HostPhase.STOPPING]
    clock.now = 10.0
    assert await host.list() == []
