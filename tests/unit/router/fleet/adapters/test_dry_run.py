"""Weeks of rounds under dry run: nothing is touched, everything is told once, and it comes to rest."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from typing_extensions import override

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.always_leads import AlwaysLeads
from router.fleet.adapters.dry_run import KEPT, NOTE, DryRunHost, DryRunLedger, DryRunRouters, DryRunWarmth, Said
from router.fleet.adapters.memory_ledger import MemoryLedger
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.controller import Controller
from router.fleet.domain.demand import Booking, BookingId, PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.domain.pool_book import Round
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.replica_record import Milestone, ordered
from router.fleet.domain.warmth import Warm
from router.fleet.errors import HostUnavailable
from router.fleet.keeping import Around, Pool
from router.fleet.ports import ReplicaHost
from tests.support.one_class import OneClass

POOL = PoolName("m")
REAL = ReplicaId("real-1")
SPEC = ReplicaSpec(REAL, "http://real-1:8000", frozenset({POOL}))
BELL = 10_000.0
END = BELL + 3600
RULES = PoolRules(seats_per_replica=10, maximum=3, lead_s=600.0)


@dataclass
class Untouched(ReplicaHost):
    """Fails where it is told to do anything."""

    replicas: list[HostedReplica] = field(default_factory=list)
    is_away: bool = False

    @property
    @override
    def names_replicas(self) -> bool:
        return True

    @override
    async def list(self) -> Sequence[HostedReplica]:
        if self.is_away:
            raise HostUnavailable("it is away")
        return self.replicas

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        pytest.fail("it was told to start")

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        pytest.fail("it was told a mark")

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        pytest.fail("it was told to stop")


class DryHouse:
    """A controller under dry run, over a world with one replica that serves."""

    def __init__(self) -> None:
        self.now = BELL - 600
        self.real = Untouched([HostedReplica(REAL, HostPhase.RUNNING, 1.0, SPEC.url)])
        self.board = MemoryRouters()
        self.board.joined[REAL] = SPEC
        self.kept = MemoryLedger()
        self.said = Said()
        self.host = DryRunHost(host=self.real, clock=lambda: self.now, said=self.said)
        self.routers = DryRunRouters(routers=self.board, said=self.said)
        self.ledger = DryRunLedger(ledger=self.kept)
        world = OneClass(Booking(BookingId("b"), POOL, BELL, END, expected=25))
        around = Around(
            leadership=AlwaysLeads("dry"),
            ledger=self.ledger,
            calendar=world,
            routers=self.routers,
            warmth=DryRunWarmth(),
            prefixes=world,
            alarm=world,
        )
        numbers = itertools.count(1)
        self.controller = Controller(
            pools=[Pool(POOL, RULES, self.host)],
            around=around,
            clock=lambda: self.now,
            new_id=lambda pool: ReplicaId(f"{pool}-{next(numbers)}"),
        )

    async def rounds(self, until: float, *, every: float = 30.0) -> None:
        while self.now < until:
            self.now += every
            (report,) = await self.controller.take_round(self.now)
            assert report.troubles == ()

    async def shown(self) -> Round:
        (shown,) = await self.kept.rounds()
        return shown


async def test_a_class_is_told_from_its_lead_to_its_end_and_nothing_is_touched() -> None:
    house = DryHouse()
    await house.rounds(BELL - 30)
    assert [line for line in house.said.kept if "start" in line] == ["would start m-1", "would start m-2"]
    assert (await house.shown()).ready == 3
    await house.rounds(END + 4 * 3600)
    stops = [line for line in house.said.kept if "stop" in line]
    assert sorted(stops) == ["would stop m-1", "would stop m-2", "would stop real-1"]
    assert "would give sessions to real-1" not in house.said.kept
    assert (await house.shown()).wait.startswith(NOTE)
    assert house.board.joined == {REAL: SPEC}
    assert house.board.draining == set()
    assert (await house.kept.book(POOL)).records == {}
    assert (await house.kept.book(POOL)).starts == ()


async def test_it_comes_to_rest_and_nothing_grows() -> None:
    house = DryHouse()
    await house.rounds(END + 4 * 3600)
    said = list(house.said.kept)
    assert len(said) == len(set(said)) < 15
    await house.rounds(END + 30 * 86_400, every=600.0)
    assert list(house.said.kept) == said
    assert (await house.ledger.read(POOL)).records == {}
    assert list(await house.host.list()) == []
    assert (house.host._started, house.routers._joined, house.routers._draining) == ({}, {}, set())


async def test_one_with_sessions_is_never_said_to_be_stopped() -> None:
    house = DryHouse()
    house.board.sessions[REAL] = 4
    await house.rounds(END + 4 * 3600)
    assert "would stop real-1" not in house.said.kept


async def test_what_somebody_else_does_is_seen() -> None:
    house = DryHouse()
    await house.rounds(house.now + 60)
    house.real.replicas = []
    house.board.joined.clear()
    await house.rounds(house.now + 100)
    assert set((await house.ledger.read(POOL)).records) == {"m-1", "m-2", "m-3"}
    await house.host.stop(ReplicaId("never"), among=0)
    assert "would stop never" not in house.said.kept
    house.real.is_away = True
    with pytest.raises(HostUnavailable):
        await house.host.list()


async def test_the_host_says_each_order_once_and_lists_it_as_carried_out() -> None:
    house = DryHouse()
    one = ReplicaId("m-9")
    for _ in range(3):
        await house.host.list()
        await house.host.start(one, among=2)
        await house.host.mark(one, Mark.SERVING)
    assert [replica.id for replica in await house.host.list()] == [REAL, one]
    for _ in range(3):
        await house.host.stop(one, among=1)
        await house.host.stop(REAL, among=0)
    assert list(await house.host.list()) == []
    assert list(house.said.kept) == ["would start m-9", "would stop m-9", "would stop real-1"]
    assert house.host.names_replicas


async def test_the_routers_orders_are_pretended() -> None:
    house = DryHouse()
    one = ReplicaSpec(ReplicaId("m-9"), "http://m-9.invalid")
    for _ in range(2):
        await house.routers.join(one)
        await house.routers.drain(REAL)
    state = await house.routers.state([REAL, one.id])
    assert set(state.joined) == {REAL, one.id}
    assert state.drains[REAL].may_stop
    for _ in range(2):
        await house.routers.keep(REAL)
        await house.routers.leave(one.id)
    state = await house.routers.state([REAL])
    assert (set(state.joined), state.drains) == ({REAL}, {})
    await house.routers.drain(REAL)
    await house.routers.leave(REAL)
    state = await house.routers.state([REAL])
    assert (state.joined, state.drains) == ({}, {})
    assert list(house.said.kept) == [
        "would give sessions to m-9",
        "would drain real-1",
        "would keep real-1",
        "would drain real-1",
    ]


async def test_the_ledger_is_read_and_its_records_are_left_as_they_are() -> None:
    house = DryHouse()
    real = ordered(REAL, POOL, now=1.0)
    await house.kept.save(real)
    assert (await house.ledger.read(POOL)).records == {REAL: real}
    await house.ledger.save(real.at(Milestone.STOPPING, 2.0))
    await house.ledger.save(ordered(ReplicaId("b"), POOL, now=2.0), instead_of=REAL)
    assert set((await house.ledger.read(POOL)).records) == {"b"}
    await house.ledger.forget(ordered(ReplicaId("b"), POOL, now=2.0))
    assert (await house.ledger.read(POOL)).records == {}
    assert (await house.kept.book(POOL)).records == {REAL: real}


async def test_everything_is_warm_and_nothing_is_asked() -> None:
    warmth = DryRunWarmth()
    assert isinstance(await warmth.look(SPEC, ()), Warm)
    assert await warmth.still_answers(SPEC) is None
    await warmth.forget(REAL)


def test_only_the_last_things_are_kept() -> None:
    said = Said()
    for number in range(KEPT + 5):
        said("start", ReplicaId(str(number)))
    assert (len(said.kept), said.kept[0]) == (KEPT, "would start 5")
