"""Replicas that are figures keep what every host promises."""

from random import Random

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.adapters.simulated.clock import Clock
from router.fleet.adapters.simulated.host import SimulatedHost
from router.fleet.adapters.simulated.machines import Machines
from router.fleet.domain.cold_starts import ColdStarts
from tests.contract.router.fleet.host_promises import HostHouse, HostPromises


class SimulatedHouse:
    def __init__(self) -> None:
        self._clock = Clock(1000.0)
        dice = Random(1)  # noqa: S311 - a simulation
        self._machines = Machines(clock=self._clock, dice=dice, starts=ColdStarts(failure_rate=0.0))
        self.host = self.another()

    def another(self) -> SimulatedHost:
        return SimulatedHost(machines=self._machines, clock=self._clock)

    async def settle(self) -> None:
        self._clock.now += 600.0

    async def kill(self, replica: ReplicaId) -> None:
        self._machines.end(replica)

    async def cut(self) -> None:
        self._machines.is_cut = True

    async def mend(self) -> None:
        self._machines.is_cut = False


@pytest.fixture
def house() -> HostHouse:
    return SimulatedHouse()


class TestSimulatedHost(HostPromises):
    pass
