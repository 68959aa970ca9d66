"""A simulated warm-up takes its time, and begins anew with each controller."""

from random import Random

import pytest

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.simulated.clock import Clock
from router.fleet.adapters.simulated.machines import Machines
from router.fleet.adapters.simulated.warmth import SimulatedWarmth
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.replica_record import Milestone
from router.fleet.domain.warmth import Prefix, Unfit, Warm, Warming

A = ReplicaSpec(ReplicaId("a"), "http://a.simulated")
CERTAIN = ColdStarts(fastest_s=100.0, slowest_s=100.0, failure_rate=0.0, warm_up_share=0.2)


class Bench:
    def __init__(self, starts: ColdStarts = CERTAIN) -> None:
        self.clock = Clock(0.0)
        self.machines = Machines(clock=self.clock, dice=Random(1), starts=starts)  # noqa: S311 - a simulation
        self.machines.start(A.id)

    def warmth(self) -> SimulatedWarmth:
        return SimulatedWarmth(machines=self.machines, clock=self.clock)


async def test_it_is_warm_when_its_start_has_taken_all_its_time() -> None:
    bench = Bench()
    warmth = bench.warmth()
    told = []
    for bench.clock.now in (79.0, 80.0, 99.0, 100.0):
        told.append(await warmth.look(A, [Prefix("scenario", [])]))
    assert told[:3] == [Warming(), Warming(Milestone.HEALTHY), Warming(Milestone.HEALTHY)]
    assert isinstance(told[3], Warm)
    assert told[3].report.prefixes == 1


@pytest.mark.parametrize("forgets", [True, False])
async def test_whoever_has_not_begun_it_has_to_begin(*, forgets: bool) -> None:
    bench = Bench()
    warmth = bench.warmth()
    bench.clock.now = 80.0
    await warmth.look(A, [])
    bench.clock.now = 100.0
    if forgets:
        await warmth.forget(A.id)
    next_one = warmth if forgets else bench.warmth()
    assert await next_one.look(A, []) == Warming(Milestone.HEALTHY)


async def test_one_that_is_unfit_is_found_out() -> None:
    bench = Bench(ColdStarts(fastest_s=1.0, slowest_s=1.0, failure_rate=1.0, hang_share=0.0, unfit_share=1.0))
    warmth = bench.warmth()
    bench.clock.now = 2.0
    await warmth.look(A, [])
    bench.clock.now = 3.0
    assert await warmth.look(A, []) == Unfit("its canary answer is not the pool's")


async def test_one_that_ended_or_is_frozen_answers_no_more() -> None:
    bench = Bench()
    warmth = bench.warmth()
    assert await warmth.still_answers(A)
    warmth.frozen.add(A.id)
    assert await warmth.still_answers(A) is False
    warmth.frozen.clear()
    bench.machines.end(A.id)
    assert await warmth.still_answers(A) is False
