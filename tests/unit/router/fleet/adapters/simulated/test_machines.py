"""How simulated starts go."""

from collections import Counter
from math import inf
from random import Random

from router.domain.fleet import ReplicaId
from router.fleet.adapters.simulated.clock import Clock
from router.fleet.adapters.simulated.machines import Fate, Machines
from router.fleet.domain.cold_starts import ColdStarts


def started(count: int, starts: ColdStarts) -> Machines:
    machines = Machines(clock=Clock(100.0), dice=Random(3), starts=starts)  # noqa: S311 - a simulation
    for number in range(count):
        machines.start(ReplicaId(str(number)))
    return machines


def test_starts_take_as_long_as_is_said_and_fail_as_often() -> None:
    machines = started(2000, ColdStarts()).here().values()
    took = [m.answers_at - m.since + m.warm_up_s for m in machines if m.fate is not Fate.HANGS]
    assert 60.0 <= min(took) < 65.0
    assert 175.0 < max(took) <= 180.0
    fates = Counter(machine.fate for machine in machines)
    assert 160 <= 2000 - fates[Fate.WELL] <= 240
    assert min(fates[Fate.HANGS], fates[Fate.UNFIT]) >= 20
    assert all(m.answers_at == inf for m in machines if m.fate is Fate.HANGS)
    assert all(m.ends_at == m.answers_at for m in machines if m.fate is Fate.ENDS)


def test_starting_one_again_is_nothing() -> None:
    machines = started(1, ColdStarts())
    machines.start(ReplicaId("0"))
    assert machines.begun == 1
