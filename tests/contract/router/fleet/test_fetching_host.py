"""Replicas wait for their weights, and the host they run on keeps its promises."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.fetching_host import FetchingHost
from router.fleet.adapters.simulated.host import SimulatedHost
from router.fleet.adapters.simulated.machines import Machines
from router.fleet.adapters.weights_cache import WeightsCache
from router.fleet.adapters.weights_folder import WeightsFolder
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.errors import HostUnavailable
from router.fleet.ports import ReplicaHost
from tests.contract.router.fleet.host_promises import HostPromises
from tests.support.eventually import eventually
from tests.support.weights_server import WeightsServer, listed, weights_server

ONE, TWO = ReplicaId("one"), ReplicaId("two")
FILES = {"config.json": b"{}", "model.safetensors": b"weights " * 2**18}
WELL = ColdStarts(fastest_s=1.0, slowest_s=2.0, failure_rate=0.0, stop_s=1.0)


class NamingHost(SimulatedHost):
    @property
    @override
    def names_replicas(self) -> bool:
        return True


@dataclass
class FetchingHouse:
    """A simulated host below one that fetches weights first; its time passes when it is to settle."""

    cache: Callable[[], WeightsCache]
    now: float = 1_000.0
    kind: type[SimulatedHost] = SimulatedHost
    machines: Machines = field(init=False)
    host: FetchingHost = field(init=False)

    def __post_init__(self) -> None:
        self.machines = Machines(clock=lambda: self.now, dice=Random(1), starts=WELL)  # noqa: S311 - a simulation
        self.host = self.another()

    def another(self) -> FetchingHost:
        host: ReplicaHost = self.kind(machines=self.machines, clock=lambda: self.now)
        return FetchingHost(host=host, weights=self.cache(), clock=lambda: self.now)

    async def settle(self) -> None:
        self.now += 10
        await self.until(lambda all_: not {each.phase for each in all_} & {HostPhase.FETCHING, HostPhase.STOPPING})

    async def until(self, holds: Callable[[Sequence[HostedReplica]], bool]) -> Sequence[HostedReplica]:
        deadline = time.monotonic() + 10
        while not holds(found := await self.host.list()):
            assert time.monotonic() < deadline, found
            await asyncio.sleep(0.005)
        return found

    async def kill(self, replica: ReplicaId) -> None:
        self.machines.end(replica)

    async def cut(self) -> None:
        self.machines.is_cut = True

    async def mend(self) -> None:
        self.machines.is_cut = False


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with weights_server(FILES) as served:
        yield served


@pytest.fixture
def cache(server: WeightsServer, tmp_path: Path) -> Callable[[], WeightsCache]:
    return lambda: WeightsCache(
        source=WeightsFolder(url=server.url, silence_s=5.0), folder=tmp_path, digest=listed(FILES).digest, pause_s=0.01
    )


@pytest.fixture
async def house(cache: Callable[[], WeightsCache]) -> AsyncIterator[FetchingHouse]:
    made = FetchingHouse(cache)
    async with made.host:
        yield made


class TestFetchingHost(HostPromises):
    pass


async def test_a_replica_waits_for_its_weights_and_says_how_far_they_are(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    server.held.clear()
    house = FetchingHouse(cache)
    async with house.host:
        await house.host.start(ONE, among=1)
        await house.host.start(TWO, among=2)
        await house.host.start(ONE, among=1)
        assert await asyncio.to_thread(server.is_holding.wait, 10)
        found = await house.until(lambda all_: all(each.detail == "0.0 of 2.0 MiB" for each in all_))
        assert [(each.id, each.phase, each.since) for each in found] == [
            (ONE, HostPhase.FETCHING, 1_000.0),
            (TWO, HostPhase.FETCHING, 1_000.0),
        ]
        assert house.machines.begun == 0
        await house.host.stop(TWO, among=1)
        server.held.set()
        (one,) = await house.until(lambda all_: all(each.phase is HostPhase.RUNNING for each in all_))
        assert one.id == ONE
    assert len(server.starts("model.safetensors")) == 1


async def test_weights_that_cannot_be_had_end_the_start_with_the_reason_and_the_next_one_tries_again(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    sound, server.served["model.safetensors"] = server.served["model.safetensors"], b"x" * 2**21
    house = FetchingHouse(cache)
    async with house.host:
        await house.host.start(ONE, among=1)
        (one,) = await house.until(lambda all_: all(each.phase is HostPhase.EXITED for each in all_))
        assert one.detail == "model.safetensors has other bytes than its digest says"
        await house.host.start(ONE, among=1)
        assert (await house.host.list())[0].phase is HostPhase.EXITED
        server.served["model.safetensors"] = sound
        await house.host.start(TWO, among=2)
        await house.host.stop(ONE, among=1)
        (two,) = await house.until(lambda all_: all(each.phase is HostPhase.RUNNING for each in all_))
        assert two.id == TWO


async def test_what_is_there_already_is_asked_of_nobody(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    await asyncio.to_thread(cache().ensure)
    asked = len(server.asked)
    house = FetchingHouse(cache)
    async with house.host:
        await house.host.start(ONE, among=1)
        assert [each.phase for each in await house.host.list()] == [HostPhase.RUNNING]
    assert len(server.asked) == asked


async def test_a_host_that_names_its_replicas_takes_no_order_until_the_weights_are_there(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    server.held.clear()
    house = FetchingHouse(cache, kind=NamingHost)
    async with house.host:
        assert await asyncio.to_thread(server.is_holding.wait, 10)
        with pytest.raises(HostUnavailable, match="the weights are on their way"):
            await house.host.start(ONE, among=1)
        assert await house.host.list() == []
        server.held.set()
        await eventually(cache().is_there)
        await house.host.start(ONE, among=1)
        assert len(await house.host.list()) == 1


async def test_a_host_that_names_its_replicas_is_told_why_there_are_none(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    server.status["config.json"] = 403
    house = FetchingHouse(cache, kind=NamingHost)
    async with house.host:
        deadline = time.monotonic() + 10
        while True:
            with pytest.raises(HostUnavailable) as raised:
                await house.host.start(ONE, among=1)
            if str(raised.value) == "config.json may not be read":
                break
            assert time.monotonic() < deadline
            await asyncio.sleep(0.005)


async def test_leaving_ends_the_fetch_and_the_next_one_goes_on(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    server.held.clear()
    house = FetchingHouse(cache)
    async with house.host:
        await house.host.start(ONE, among=1)
        assert await asyncio.to_thread(server.is_holding.wait, 10)
        asyncio.get_running_loop().call_soon(server.held.set)
    assert house.machines.begun == 0
    assert not cache().is_there()
    async with house.another() as host:
        await host.start(ONE, among=1)
        await eventually(lambda: house.machines.begun == 1)


async def test_leaving_waits_for_no_second_try_of_a_silent_source(server: WeightsServer, tmp_path: Path) -> None:
    server.held.clear()
    server.held_after = 1_000
    source = WeightsFolder(url=server.url, silence_s=0.3)
    weights = WeightsCache(source=source, folder=tmp_path, digest=listed(FILES).digest, pause_s=0.01)
    async with FetchingHouse(lambda: weights).host:
        assert await asyncio.to_thread(server.is_holding.wait, 10)
    assert len(server.starts("model.safetensors")) <= 3, "the store's own tries, and none of ours"


class SlowHost(SimulatedHost):
    """Takes an order only once it may."""

    is_asked = False
    may = asyncio.Event()

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        type(self).is_asked = True
        await self.may.wait()
        await super().start(replica, among=among)


async def test_what_is_stopped_just_as_it_starts_is_stopped(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    server.held.clear()
    house = FetchingHouse(cache, kind=SlowHost)
    async with house.host:
        await house.host.start(ONE, among=1)
        server.held.set()
        await eventually(lambda: SlowHost.is_asked)
        await house.host.stop(ONE, among=0)
        SlowHost.may.set()
    assert house.machines.begun == 1
    await house.settle()
    assert await house.host.list() == []


async def test_a_host_that_takes_nothing_when_the_weights_are_there_is_asked_again_by_who_ordered(
    server: WeightsServer, cache: Callable[[], WeightsCache]
) -> None:
    server.held.clear()
    house = FetchingHouse(cache)
    async with house.host:
        await house.host.start(ONE, among=1)
        await house.cut()
        server.held.set()
        await eventually(lambda: not house.host._orders)
        await house.mend()
        assert await house.host.list() == []
        await house.host.start(ONE, among=1)
        assert len(await house.host.list()) == 1
