"""A pool in a simulated week: replicas start slowly and fail, trainees stay on, the controller is killed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import Booking, demand, seats_of
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.pool_view import PoolView, ReplicaSeen
from router.fleet.domain.replica_lifecycle import ReplicaEvent, ReplicaState, after
from router.fleet.domain.scaling import Action, Move, decide
from router.fleet.domain.steps import Block, Steps, summed

TICK_S = 20.0
MOVED_A_TICK = 4
FASTEST_START_S = 60.0
FAILURE_RATE = 0.1
HANG_RATE = 0.02


@dataclass(slots=True)
class Trainee:
    begins: float
    leaves: float
    class_ends: float


@dataclass(slots=True)
class Machine:
    seen: ReplicaSeen
    began: float
    turns_at: float
    """When its start ends, well or not."""
    fails: bool
    trainees: list[Trainee] = field(default_factory=list)

    def step(self, event: ReplicaEvent, now: float) -> None:
        self.seen = replace(self.seen, state=after(self.seen.state, event), since=now)


class SimulatedWeek:
    """Plays a calendar through; `broken` holds every promise that was."""

    def __init__(self, bookings: Sequence[Booking], rules: PoolRules, *, seed: int) -> None:
        self._dice = Random(seed)  # noqa: S311 - a simulation
        self._rules = rules
        self._bookings = bookings
        self._seats = demand(bookings, bookings[0].pool)
        self._machines: dict[ReplicaId, Machine] = {}
        self._starts: list[PastStart] = []
        self._hours: dict[int, Steps] = {}
        self._begun = 0
        self._dead_until = 0.0
        self.trainees = [trainee for booking in bookings for trainee in self._class_of(booking)]
        self._coming = sorted(self.trainees, key=lambda trainee: trainee.begins, reverse=True)
        self.ticks = self._all_ticks()
        self.held: list[int] = []
        """Replicas at each tick that had a place of the pool, whether they served or not."""
        self.broken: list[str] = []
        self.failures = 0
        self.kills = 0

    def play(self) -> None:
        for now in self.ticks:
            self._starts_end(now)
            self._trainees_move(now)
            self._bells(now)
            self._controller(now)
            self.held.append(len(self._machines))

    def need(self, *, with_strays: bool) -> list[int]:
        """Replicas in use at each tick: by seats that are promised, and by sessions past their end."""
        seated = summed([*self._seats.blocks(), *(self._overtime() if with_strays else ())])
        return [-(-seated.at(now) // self._rules.seats_per_replica) for now in self.ticks]

    def _class_of(self, booking: Booking) -> list[Trainee]:
        dice, people = self._dice, []
        for _ in range(seats_of(booking)):
            late = dice.uniform(0.0, 600.0) if dice.random() < 0.25 else dice.uniform(-600.0, 0.0)
            people.append(Trainee(booking.begins + dice.uniform(0.0, 300.0), booking.ends + late, booking.ends))
        return people

    def _all_ticks(self) -> list[float]:
        first = min(booking.begins for booking in self._bookings) - 7200.0
        last = max(booking.ends for booking in self._bookings) + 3600.0
        return [first + n * TICK_S for n in range(int((last - first) / TICK_S))]

    def _overtime(self) -> list[Block]:
        return [Block(trainee.class_ends, trainee.leaves, 1) for trainee in self.trainees]

    def _starts_end(self, now: float) -> None:
        for machine in self._machines.values():
            if machine.seen.state is ReplicaState.STARTING and machine.turns_at <= now:
                self._starts.append(PastStart(machine.began, now, went_warm=not machine.fails))
                self.failures += machine.fails
                if machine.fails:
                    machine.step(ReplicaEvent.FAILED, now)
                else:
                    machine.step(ReplicaEvent.ANSWERED, now)
                    machine.step(ReplicaEvent.WARMED, now)

    def _trainees_move(self, now: float) -> None:
        for machine in self._machines.values():
            machine.trainees = [trainee for trainee in machine.trainees if trainee.leaves > now]
        while self._coming and self._coming[-1].begins <= now:
            self._seat(self._coming.pop(), now, "a trainee came and found no seat")
        for machine in self._machines.values():
            if machine.seen.state is ReplicaState.DRAINING:
                for trainee in machine.trainees[:MOVED_A_TICK]:
                    machine.trainees.remove(trainee)
                    self._seat(trainee, now, "a session was to move and had nowhere to go")

    def _seat(self, trainee: Trainee, now: float, otherwise: str) -> None:
        ready = [machine for machine in self._machines.values() if machine.seen.state is ReplicaState.READY]
        least = min(ready, key=lambda machine: len(machine.trainees), default=None)
        if least is None or len(least.trainees) >= self._rules.seats_per_replica:
            self.broken.append(f"{now}: {otherwise}")
        else:
            least.trainees.append(trainee)

    def _bells(self, now: float) -> None:
        for booking in self._bookings:
            if now - TICK_S < booking.begins <= now:
                ready = sum(machine.seen.state is ReplicaState.READY for machine in self._machines.values())
                if ready * self._rules.seats_per_replica < self._seats.at(booking.begins):
                    self.broken.append(f"{now}: {booking.id} had {ready} replicas at its bell")

    def _controller(self, now: float) -> None:
        if now < self._dead_until:
            return
        if self._dice.random() < 0.05:
            self.kills += 1
            self._dead_until = now + self._dice.uniform(0.0, 90.0)
            return
        actions = list(decide(self._view(now), self._rules, now=now).actions)
        if actions and self._dice.random() < 0.1:  # killed halfway through
            self.kills += 1
            actions = actions[: self._dice.randrange(len(actions))]
        for action in actions:
            self._act(action, now)

    def _view(self, now: float) -> PoolView:
        """What a controller that has just come up reads; now and then something cannot be read."""
        view = PoolView(
            replicas=tuple(
                replace(
                    machine.seen,
                    sessions=len(machine.trainees),
                    may_stop=machine.seen.state is ReplicaState.DRAINING and not machine.trainees,
                )
                for machine in self._machines.values()
            ),
            seats=self._near(now),
            strays=sum(
                trainee.class_ends <= now for machine in self._machines.values() for trainee in machine.trainees
            ),
            starts=tuple(self._starts[-100:]),
        )
        match self._dice.randrange(100):
            case 0:
                return replace(view, replicas=None)
            case 1:
                return replace(view, seats=None)
            case 2:
                return replace(view, strays=None)
            case _:
                return view

    def _near(self, now: float) -> Steps:
        """What a controller asks the calendar for: the classes from an hour ago until some hours ahead."""
        hour = int(now // 3600)
        if hour not in self._hours:
            span = Block((hour - 1) * 3600.0, (hour + 4) * 3600.0, 0)
            near = [b for b in self._bookings if b.begins < span.ends and b.ends > span.begins]
            self._hours[hour] = demand(near, self._bookings[0].pool)
        return self._hours[hour]

    def _act(self, action: Action, now: float) -> None:
        if action.replica is None:
            self._start(now)
            return
        machine = self._machines[action.replica]
        if action.move is Move.STOP:
            if machine.trainees:
                self.broken.append(f"{now}: {action.replica} was stopped under {len(machine.trainees)} sessions")
            if machine.seen.state is ReplicaState.STARTING and machine.fails:
                self._starts.append(PastStart(machine.began, now, went_warm=False))
                self.failures += 1
            machine.step(ReplicaEvent.STOPPED, now)
            del self._machines[action.replica]
        else:
            machine.step(ReplicaEvent.KEPT if action.move is Move.KEEP else ReplicaEvent.DRAINED, now)

    def _start(self, now: float) -> None:
        self._begun += 1
        chance = self._dice.random()
        took = self._dice.uniform(FASTEST_START_S, 180.0)
        machine = Machine(
            ReplicaSeen(ReplicaId(f"r{self._begun:04}"), ReplicaState.WANTED, since=now, ordered=now),
            began=now,
            turns_at=now + (1e9 if chance < HANG_RATE else took),
            fails=chance < FAILURE_RATE,
        )
        machine.step(ReplicaEvent.PLACED, now)
        self._machines[machine.seen.id] = machine
