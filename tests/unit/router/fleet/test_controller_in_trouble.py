"""Classes in worlds where hosts lie, controllers die and stores forget: no session is hit, and nothing is left."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.simulated.mortal import ControllerKilled
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.domain.pool_book import Floor
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.errors import HostUnavailable
from router.fleet.ports import ReplicaHost
from tests.support.fleet_house import POOL, FleetHouse, booking

ROUND_S = 10.0
QUIET_S, LAST_S = 7_000.0, 9_500.0
RULES = PoolRules(seats_per_replica=8, maximum=4, lead_s=600.0)
STARTS = ColdStarts(fastest_s=20.0, slowest_s=90.0, failure_rate=0.1)


class Liar(ReplicaHost):
    """Lists too little, too much, and twice; refuses; and obeys and says that it did not."""

    def __init__(self, inner: ReplicaHost, happens: Callable[[float], bool]) -> None:
        self._inner = inner
        self._happens = happens
        self._strangers = 0

    @property
    @override
    def names_replicas(self) -> bool:
        return self._inner.names_replicas

    @override
    async def list(self) -> Sequence[HostedReplica]:
        if self._happens(0.02):
            raise HostUnavailable("it cannot be asked")
        found = list(await self._inner.list())
        if self._happens(0.02):
            return found[1:] if self._happens(0.5) else []
        if self._happens(0.02):
            return [*found, *reversed(found)]
        if self._happens(0.01):
            self._strangers += 1
            found.append(HostedReplica(ReplicaId(f"stranger-{self._strangers}"), HostPhase.RUNNING, 0.0, "http://it"))
        return found

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        await self._order(lambda: self._inner.start(replica, among=among))

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        await self._inner.mark(replica, mark)

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        await self._order(lambda: self._inner.stop(replica, among=among))

    async def _order(self, obey: Callable[[], Awaitable[None]]) -> None:
        if self._happens(0.1):
            raise HostUnavailable("it does not do that now")
        await obey()
        if self._happens(0.05):
            raise HostUnavailable("it does it, and its answer is lost")


class World:
    """Some classes, one of which is moved and one cancelled, and an operator's floor; all is quiet in the end."""

    def __init__(self, seed: int, *, names: bool) -> None:
        self._dice = dice = Random(seed)  # noqa: S311 - a simulation
        bells = [dice.uniform(1_500.0, 5_000.0) for _ in range(3)]
        classes = [booking(f"class {bell:.0f}", bell, bell + 900.0, dice.randint(2, 20)) for bell in bells]
        self.house = FleetHouse(classes, rules=RULES, starts=STARTS, names=names)
        self.house.host = Liar(self.house.host, self._happens)
        self._asked, self._dies_at = 0, 0
        self.house.next_controller(self._dies)

    async def play(self) -> None:
        while self.house.clock.now < LAST_S:
            self.house.clock.now += ROUND_S
            self._sit()
            await self._meddle()
            self._asked, self._dies_at = 0, self._dice.randint(1, 40) if self._happens(0.1) else 0
            try:
                report = await self.house.round()
            except ControllerKilled:
                self.house.next_controller(self._dies)
            else:
                assert not any("see the log" in trouble for trouble in report.troubles)

    def _happens(self, how_likely: float) -> bool:
        return self.house.clock.now < QUIET_S and self._dice.random() < how_likely

    def _dies(self) -> bool:
        self._asked += 1
        return self._asked == self._dies_at

    def _sit(self) -> None:
        """Those who are there sit on what serves; on what drains they sat, and move."""
        now = self.house.clock.now
        people = sum(c.expected for c in self.house.calendar.listed if c.begins <= now < c.ends)
        serving = sorted(self.house.routers.joined.keys() - self.house.routers.draining)
        each = -(-people // len(serving)) if serving else 0
        self.house.routers.sessions = dict.fromkeys(serving, each)

    async def _meddle(self) -> None:
        listed = self.house.calendar.listed
        if self._happens(0.003):
            listed[0] = replace(listed[0], begins=listed[0].begins + 300.0, ends=listed[0].ends + 300.0, version=2)
        if self._happens(0.001):
            listed[1] = replace(listed[1], is_cancelled=True)
        if self._happens(0.003):
            until = self.house.clock.now + self._dice.uniform(10.0, 600.0)
            await self.house.ledger.set_floor(POOL, Floor(self._dice.randint(0, 6), until, "operator"))
        if self._happens(0.005):
            self.house.routers.joined.clear()
            self.house.routers.draining.clear()
        self.house.routers.is_away = self._happens(0.02)
        self.house.calendar.is_away = self._happens(0.02)


@pytest.mark.parametrize("names", [False, True], ids=["goes by orders", "names its replicas"])
@pytest.mark.parametrize("seed", range(4))
async def test_no_session_is_hit_and_nothing_is_left(seed: int, *, names: bool) -> None:
    world = World(seed, names=names)
    await world.play()
    assert world.house.machines.begun > 0
    assert world.house.stopped_under == []
    assert (world.house.machines.here(), world.house.routers.joined, world.house.routers.draining) == ({}, {}, set())
    assert (await world.house.ledger.book(POOL)).records == {}
