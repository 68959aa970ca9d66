"""Members that come and go, and a list that cannot be read."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs
from typing_extensions import override

from router.domain.board import Board
from router.domain.fleet import Health, ReplicaId, ReplicaSpec
from router.domain.sighting import Late
from router.errors import FleetSourceUnavailable
from router.fleet_state import FleetState
from router.fleet_upkeep import FleetUpkeep
from router.ports import FleetSource
from router.settings import RouterSettings
from tests.support.eventually import eventually
from tests.support.fake_probe import GONE, FakeProbe

A, B = ReplicaId("a"), ReplicaId("b")
AT_A, AT_B = ReplicaSpec(A, "http://a"), ReplicaSpec(B, "http://b")


class FakeSource(FleetSource):
    """Lists what it was told to, or fails as it was told to."""

    def __init__(self, *specs: ReplicaSpec) -> None:
        self._listed: Sequence[ReplicaSpec] | str = specs
        self._has_changed = asyncio.Event()
        self.reads = 0

    def becomes(self, *specs: ReplicaSpec) -> None:
        self._listed = specs
        self._has_changed.set()

    def fails(self, why: str) -> None:
        self._listed = why
        self._has_changed.set()

    @override
    async def replicas(self) -> Sequence[ReplicaSpec]:
        self.reads += 1
        if isinstance(self._listed, str):
            raise FleetSourceUnavailable(self._listed)
        return self._listed

    @override
    async def changed(self) -> None:
        await self._has_changed.wait()
        self._has_changed.clear()


class Kept:
    """A fleet and its upkeep."""

    def __init__(self, *specs: ReplicaSpec) -> None:
        self.source = FakeSource(*specs)
        self.state = FleetState()
        self.probe = FakeProbe()
        self.upkeep = FleetUpkeep(
            source=self.source,
            state=self.state,
            probe=self.probe,
            settings=RouterSettings(probe_interval_s=0.002, canary_interval_s=0.01, canary_timeout_s=0.02),
        )

    @property
    def ready(self) -> set[ReplicaId]:
        return {replica.id for replica in self.state.current().ready}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.upkeep.run())
            yield
            task.cancel()


async def test_after_the_first_round_everybody_is_known() -> None:
    kept = Kept(AT_A, AT_B)
    kept.probe.looks(B, GONE)
    await kept.upkeep.first_round()
    assert [replica.health for replica in kept.state.current().replicas] == [Health.READY, Health.DOWN]


async def test_a_replica_that_hangs_does_not_hold_up_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("router.fleet_upkeep._FIRST_ROUND_S", 0.05)
    kept = Kept(AT_A, AT_B)
    kept.probe.hanging.add(("look", B))
    with capture_logs() as logs:
        await kept.upkeep.first_round()
    assert kept.ready == {A}
    assert logs[-1]["event"] == "fleet not wholly known at the start"
    kept.probe.hanging.clear()
    async with kept.running():
        await eventually(lambda: kept.ready == {A, B})


async def test_a_list_that_cannot_be_read_does_not_prevent_the_start() -> None:
    kept = Kept()
    kept.source.fails("away")
    await kept.upkeep.first_round()
    numbers = kept.upkeep.source_numbers
    assert (numbers.failures, numbers.detail) == (1, "away")
    assert numbers.age_s >= 0
    async with kept.running():
        kept.source.becomes(AT_A)
        await eventually(lambda: kept.ready == {A})
    assert (kept.upkeep.source_numbers.age_s, kept.upkeep.source_numbers.detail) == (0.0, "")


async def test_whoever_joins_is_looked_after_and_whoever_leaves_no_longer() -> None:
    kept = Kept(AT_A)
    async with kept.running():
        await eventually(lambda: kept.ready == {A})
        kept.source.becomes(AT_A, AT_B)
        await eventually(lambda: kept.ready == {A, B})
        kept.source.becomes(AT_B)
        await eventually(lambda: kept.ready == {B})
        before = kept.probe.asked["look", A]
        looks = kept.probe.asked["look", B] + 10
        await eventually(lambda: kept.probe.asked["look", B] >= looks)
        assert kept.probe.asked["look", A] <= before + 1
    assert kept.probe.asked["register", B] == 1


async def test_what_operators_add_is_looked_after_too() -> None:
    kept = Kept(AT_A)
    async with kept.running():
        kept.state.apply(Board(added=(AT_B,)))
        await eventually(lambda: kept.ready == {A, B})
        kept.state.apply(Board(removed=frozenset({A})))
        await eventually(lambda: kept.ready == set())


async def test_a_replica_that_moves_is_registered_at_its_new_address() -> None:
    kept = Kept(AT_A)
    async with kept.running():
        await eventually(lambda: kept.ready == {A})
        kept.source.becomes(ReplicaSpec(A, "http://new"))
        await eventually(lambda: kept.probe.asked["register", A] == 2)
        await eventually(lambda: kept.ready == {A})


async def test_that_a_replica_is_closed_starts_no_new_watch() -> None:
    kept = Kept(AT_A)
    async with kept.running():
        await eventually(lambda: kept.ready == {A})
        kept.source.becomes(ReplicaSpec(A, "http://a", is_closed=True))
        await eventually(lambda: kept.state.current().replicas[0].is_draining)
        looks = kept.probe.asked["look", A] + 5
        await eventually(lambda: kept.probe.asked["look", A] >= looks)
    assert kept.probe.asked["register", A] == 1


async def test_while_the_source_is_away_the_last_known_go_on_and_it_is_said_once() -> None:
    kept = Kept(AT_A)
    with capture_logs() as logs:
        async with kept.running():
            await eventually(lambda: kept.ready == {A})
            kept.source.fails("away")
            await eventually(lambda: kept.upkeep.source_numbers.failures >= 2)
            assert kept.ready == {A}
            assert kept.upkeep.source_numbers.age_s > 0
            kept.source.becomes(AT_A, AT_B)
            await eventually(lambda: kept.ready == {A, B})
    said = [entry["event"] for entry in logs if "source" in entry["event"]]
    assert said == ["fleet source cannot be read; the last known replicas go on", "fleet source back"]


async def test_a_process_that_stops_sends_no_canaries() -> None:
    kept = Kept(AT_A)
    kept.upkeep.rest()
    async with kept.running():
        await eventually(lambda: kept.probe.asked["look", A] >= 5)
    assert kept.probe.asked["try out", A] == 0


async def test_a_hung_replica_delays_no_other() -> None:
    kept = Kept(AT_A, AT_B)
    kept.probe.hanging.add(("look", A))
    kept.probe.hanging.add(("register", A))
    async with kept.running():
        await eventually(lambda: kept.ready == {B})
        looks = kept.probe.asked["look", B] + 10
        await eventually(lambda: kept.probe.asked["look", B] >= looks)


async def test_three_hundred_replicas_are_known_within_seconds() -> None:
    specs = [ReplicaSpec(ReplicaId(f"r{n}"), f"http://10.0.0.{n}") for n in range(300)]
    kept = Kept(*specs)
    kept.probe.generates(ReplicaId("r7"), Late("no token"))
    await kept.upkeep.first_round()
    assert len(kept.ready) == 299
