"""What a simulated host stands on: replicas that come up slowly, fail, hang, or turn out to be another model."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from random import Random

from router.domain.fleet import ReplicaId
from router.fleet.domain.cold_starts import ColdStarts


class Fate(StrEnum):
    WELL = "well"
    ENDS = "ends"
    HANGS = "hangs"
    UNFIT = "unfit"


@dataclass(slots=True)
class Machine:
    id: ReplicaId
    since: float
    fate: Fate
    answers_at: float
    warm_up_s: float
    ends_at: float = inf
    """When it ends by itself."""
    gone_at: float = inf
    """When it is gone, once it was told to."""


class Machines:
    """They go on whatever becomes of the controller."""

    def __init__(self, *, clock: Callable[[], float], dice: Random, starts: ColdStarts) -> None:
        self._clock = clock
        self._dice = dice
        self._starts = starts
        self._machines: dict[ReplicaId, Machine] = {}
        self.begun = 0
        self.is_cut = False
        """Whether nobody can ask."""

    def here(self) -> dict[ReplicaId, Machine]:
        now = self._clock()
        self._machines = {replica: machine for replica, machine in self._machines.items() if machine.gone_at > now}
        return self._machines

    def start(self, replica: ReplicaId) -> None:
        if replica not in self.here():
            self.begun += 1
            self._machines[replica] = self._made(replica, self._clock())

    def stop(self, replica: ReplicaId) -> None:
        machine = self.here().get(replica)
        if machine is not None:
            machine.gone_at = min(machine.gone_at, self._clock() + self._starts.stop_s)

    def end(self, replica: ReplicaId) -> None:
        self._machines[replica].ends_at = self._clock()

    def _made(self, replica: ReplicaId, now: float) -> Machine:
        took = self._dice.uniform(self._starts.fastest_s, self._starts.slowest_s)
        warm_up_s = took * self._starts.warm_up_share
        fate = self._fate()
        answers_at = inf if fate is Fate.HANGS else now + took - warm_up_s
        return Machine(replica, now, fate, answers_at, warm_up_s, ends_at=answers_at if fate is Fate.ENDS else inf)

    def _fate(self) -> Fate:
        if self._dice.random() >= self._starts.failure_rate:
            return Fate.WELL
        which = self._dice.random()
        if which < self._starts.hang_share:
            return Fate.HANGS
        return Fate.UNFIT if which < self._starts.hang_share + self._starts.unfit_share else Fate.ENDS
