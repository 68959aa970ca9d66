"""The controller of all pools: killed anywhere, and with one pool in trouble."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet import controller
from router.fleet.adapters.simulated.host import SimulatedHost
from router.fleet.adapters.simulated.mortal import ControllerKilled
from router.fleet.controller import Controller
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostedReplica
from router.fleet.keeping import Pool, PoolReport
from tests.support.fleet_house import POOL, FleetHouse, booking

BELL, END = 630.0, 720.0
OTHER = PoolName("llama")


class DyingAt:
    """Says "die" at one question, and never again."""

    def __init__(self, moment: int) -> None:
        self.asked = 0
        self._moment = moment

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked == self._moment


async def played(house: FleetHouse, dies: DyingAt) -> list[int]:
    """A class of ten on replicas of eight seats, from its lead until nothing is left; tells at which questions
    anything was done.
    """
    house.next_controller(dies)
    busy: list[int] = []
    while house.clock.now < END + 300.0:
        house.clock.now += 30.0
        house.routers.sessions = dict.fromkeys(house.routers.joined, 5 if BELL < house.clock.now < END else 0)
        if house.clock.now == BELL:
            assert len(house.routers.joined) == 2
        asked = dies.asked
        try:
            report = await house.round()
        except ControllerKilled:
            house.next_controller(dies)
        else:
            busy += range(asked + 1, dies.asked + 1) if report.deeds else ()
    return busy


@pytest.mark.parametrize("names", [False, True], ids=["goes by orders", "names its replicas"])
async def test_it_may_be_killed_at_any_step(*, names: bool) -> None:
    """Before and after each question of every round in which anything is done."""
    busy = await played(FleetHouse([booking("class", BELL, END, 10)], names=names), DyingAt(0))
    assert len(busy) > 100
    for moment in busy:
        house = FleetHouse([booking("class", BELL, END, 10)], names=names)
        dies = DyingAt(moment)
        await played(house, dies)
        assert dies.asked >= moment, "it was killed"
        assert house.machines.begun == 2
        assert (house.machines.here(), house.routers.joined, house.routers.draining) == ({}, {}, set())
        book = await house.ledger.book(POOL)
        assert book.records == {}
        assert {start.went_warm for start in book.starts} <= {True}
        assert house.stopped_under == []


async def test_another_process_that_leads_is_left_alone() -> None:
    house = FleetHouse([booking("class", 100.0, 500.0, 10)])
    house.leads = False
    report = await house.round()
    assert (report.leads, report.round, house.machines.begun) == (False, None, 0)


class Stuck(SimulatedHost):
    """Never answers, or is broken as no host may be."""

    error: Exception | None = None

    @override
    async def list(self) -> Sequence[HostedReplica]:
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()
        raise AssertionError


def beside(house: FleetHouse, bad: Stuck, told: Callable[[PoolReport], None]) -> Controller:
    return Controller(
        pools=[Pool(OTHER, house.rules, bad), Pool(POOL, house.rules, house.host)],
        around=house.around(),
        clock=house.clock,
        new_id=lambda pool: ReplicaId(f"{pool}-1"),
        told=told,
    )


async def test_what_is_broken_in_one_pool_stops_no_other() -> None:
    house = FleetHouse([booking("class", 100.0, 500.0, 5)])
    bad = Stuck(machines=house.machines, clock=house.clock)
    bad.error = RuntimeError("a fault of the program")
    broken, fine = await beside(house, bad, lambda _: None).take_round(0.0)
    assert broken == PoolReport(OTHER, leads=True, troubles=("RuntimeError: see the log",))
    assert [deed.what for deed in fine.deeds] == ["start"]


async def test_a_host_that_hangs_holds_up_its_own_pool_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "LONGEST_ROUND_S", 0.05)
    house = FleetHouse([booking("class", 100.0, 500.0, 5)])
    heard: dict[PoolName, list[PoolReport]] = {POOL: [], OTHER: []}
    enough = asyncio.Event()

    def told(report: PoolReport) -> None:
        heard[report.pool].append(report)
        if len(heard[OTHER]) == 2:
            enough.set()

    stuck = Stuck(machines=house.machines, clock=house.clock)
    running = asyncio.create_task(beside(house, stuck, told).run(interval_s=0.001))
    async with asyncio.timeout(10.0):
        await enough.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert heard[OTHER][0].troubles == ("its round took too long and was given up",)
    assert len(heard[POOL]) > 2
