"""Trainees who are figures: they come at their bells, some stay on, and their sessions move off replicas that drain."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from router.domain.fleet import ReplicaId
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.domain.demand import Booking, current, seats_of

MOVED_A_MINUTE = 12
"""Sessions that a drain moves, each between two turns."""
COME_WITHIN_S = 300.0
STAY_ON_S = 600.0
STAY_ON_SHARE = 0.25
IDLE_S = 900.0
"""How long a session that nobody uses counts as used, as it is set by default."""


@dataclass(slots=True)
class Trainee:
    begins: float
    leaves: float
    class_ends: float
    lingers_s: float = 0.0
    """How long a session that was not ended still counts as used."""
    replica: ReplicaId | None = None
    was_turned_away: bool = False

    def is_gone(self, now: float) -> bool:
        return self.leaves + self.lingers_s <= now


@dataclass(slots=True)
class Crowd:
    """Every trainee of the bookings, on the routers' replicas."""

    routers: MemoryRouters
    seats_per_replica: int
    trainees: Sequence[Trainee]
    turned_away: int = 0
    """They came, or had to move, and no replica served at all."""
    crowded: int = 0
    """They came, or had to move, and every replica had its seats taken."""
    _coming: list[Trainee] = field(init=False)
    _here: list[Trainee] = field(default_factory=list, init=False)
    _on: dict[ReplicaId, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._coming = sorted(self.trainees, key=lambda trainee: trainee.begins, reverse=True)

    def on(self, replica: ReplicaId) -> int:
        return self._on.get(replica, 0)

    def pass_time(self, now: float, *, spent_s: float) -> None:
        for trainee in self._here:
            if trainee.is_gone(now):
                self._stand_up(trainee)
        self._here = [trainee for trainee in self._here if not trainee.is_gone(now)]
        while self._coming and self._coming[-1].begins <= now:
            trainee = self._coming.pop()
            self._here.append(trainee)
            self._sit(trainee)
        for replica in tuple(self.routers.draining):
            self._move_off(replica, round(MOVED_A_MINUTE * spent_s / 60.0))
        for trainee in self._here:
            if trainee.replica not in self.routers.joined:
                self._stand_up(trainee)
                self._sit(trainee)

    def _move_off(self, replica: ReplicaId, most: int) -> None:
        for trainee in [trainee for trainee in self._here if trainee.replica == replica][:most]:
            self._stand_up(trainee)
            self._sit(trainee)

    def _stand_up(self, trainee: Trainee) -> None:
        if trainee.replica is not None:
            self._count(trainee.replica, -1)
            trainee.replica = None

    def _sit(self, trainee: Trainee) -> None:
        serving = [replica for replica in self.routers.joined if replica not in self.routers.draining]
        least = min(serving, key=self.on, default=None)
        if least is None:
            self.turned_away += not trainee.was_turned_away
            trainee.was_turned_away = True
            return
        self.crowded += self.on(least) >= self.seats_per_replica
        trainee.replica = least
        self._count(least, 1)

    def _count(self, replica: ReplicaId, change: int) -> None:
        self._on[replica] = self.routers.sessions[replica] = self.on(replica) + change


def crowd_of(bookings: Sequence[Booking], dice: Random, *, abandon_rate: float = 0.0) -> Sequence[Trainee]:
    """`abandon_rate`: the share of trainees who close the page and leave their session open."""
    trainees = [_trainee(booking, dice) for booking in current(bookings) for _ in range(seats_of(booking))]
    for trainee in trainees if abandon_rate else ():
        trainee.lingers_s = IDLE_S if dice.random() < abandon_rate else 0.0
    return trainees


def _trainee(booking: Booking, dice: Random) -> Trainee:
    late = dice.uniform(0.0, STAY_ON_S) if dice.random() < STAY_ON_SHARE else dice.uniform(-STAY_ON_S, 0.0)
    leaves = max(booking.begins, booking.ends + late)
    return Trainee(booking.begins + dice.uniform(0.0, COME_WITHIN_S), leaves, booking.ends)
