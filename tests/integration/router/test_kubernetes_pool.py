"""A class on Kubernetes from the plan to its end: the controller, its host, a cluster, and what routers see of it."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from random import Random

import pytest
from typing_extensions import override

from router.adapters.kubernetes_fleet import KubernetesFleet
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.kubernetes_host import KubernetesHost
from router.fleet.adapters.simulated.mortal import ControllerKilled
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.replica_record import WarmReport
from router.fleet.domain.warmth import Prefix, Warm, WarmLook
from router.fleet.keeping import Around
from router.fleet.ports import Warmth
from router.fleet.settings import KubernetesHostSettings
from tests.support.fake_cluster import DEPLOYMENT, FakeCluster, fake_cluster, names
from tests.support.fake_kubernetes import NAMESPACE, SERVICE
from tests.support.fleet_house import FleetHouse, booking

BELL, END = 600.0, 900.0
RULES = PoolRules(seats_per_replica=8, maximum=4, lead_s=300.0)


class AtOnce(Warmth):
    """Whoever runs is warm."""

    @override
    async def look(self, replica: ReplicaSpec, prefixes: Sequence[Prefix]) -> WarmLook:
        return Warm(WarmReport("digest", 0.0, 0.0, len(prefixes), took_s=0.0))

    @override
    async def still_answers(self, replica: ReplicaSpec) -> bool | None:
        return True

    @override
    async def forget(self, replica: ReplicaId) -> None: ...


class KubernetesHouse(FleetHouse):
    """Between two rounds the cluster comes to rest; whoever is killed is followed by another."""

    def __init__(self, cluster: FakeCluster, host: KubernetesHost, fleet: KubernetesFleet) -> None:
        super().__init__([booking("class", BELL, END, 20)], rules=RULES)
        self.cluster = cluster
        self.host = host
        self.fleet = fleet
        self.killed = 0
        self.hit: list[str] = []
        self._seen_deleted = 0

    @override
    def around(self, dies: Callable[[], bool] = lambda: False) -> Around:
        return replace(super().around(dies), warmth=AtOnce())

    async def go_on_until(self, moment: float, dies: Callable[[], bool]) -> None:
        self.next_controller(dies)
        while self.clock.now < moment:
            try:
                await self._round_and_rest()
            except ControllerKilled:
                self.killed += 1
                self.next_controller(dies)

    async def _round_and_rest(self) -> None:
        self.clock.now += 15.0
        try:
            await self.round()
        finally:
            await self._rest()

    async def _rest(self) -> None:
        await self.cluster.settled()
        gone = self.cluster.deleted[self._seen_deleted :]
        self._seen_deleted = len(self.cluster.deleted)
        self.hit += [name for name in gone if self.routers.sessions.get(ReplicaId(name))]

    async def open_to_routers(self) -> set[str]:
        """As their source tells them, whatever the board says."""
        await self.fleet._list()
        return {spec.id for spec in await self.fleet.replicas() if not spec.is_closed}


@pytest.fixture
async def house() -> AsyncIterator[KubernetesHouse]:
    async with fake_cluster() as cluster, AsyncExitStack() as stack:
        client = cluster.client()
        stack.push_async_callback(client.close)
        settings = KubernetesHostSettings(deployment=DEPLOYMENT, namespace=NAMESPACE)
        host = KubernetesHost(settings=settings, client=client, patience_s=1.0, pause_s=0.005)
        fleet = KubernetesFleet(client=cluster.client(), namespace=NAMESPACE, service=SERVICE, port="http")
        stack.push_async_callback(fleet.close)
        yield KubernetesHouse(cluster, host, fleet)


@pytest.mark.parametrize("dies_with", [0.0, 0.05], ids=["one controller", "killed again and again"])
async def test_replicas_are_there_at_the_bell_and_gone_after_the_class(
    house: KubernetesHouse, dies_with: float
) -> None:
    dice = Random(7)  # noqa: S311 - a simulation

    def dies() -> bool:
        return dice.random() < dies_with

    await house.go_on_until(BELL, dies)
    warm = await house.open_to_routers()
    assert len(warm) == 3
    assert warm == set(house.routers.joined)

    first, second, third = (ReplicaId(name) for name in sorted(warm))
    house.routers.sessions = {first: 7, second: 7, third: 6}
    house.cluster.crash(first)  # its sessions go on elsewhere
    house.routers.sessions = {second: 8, third: 8}
    await house.go_on_until(END - 30.0, dies)
    assert len(await house.open_to_routers()) == 3
    assert first not in house.cluster.pods

    house.routers.sessions = {second: 1}  # somebody stays on past the end
    await house.go_on_until(END + 600.0, dies)
    assert second in house.cluster.pods
    house.routers.sessions = {}
    await house.go_on_until(END + 1500.0, dies)
    assert list(names(house.cluster)) == []
    assert house.cluster.deployment["spec"]["replicas"] == 0
    assert house.hit == []
    assert (house.killed > 5) is bool(dies_with)
