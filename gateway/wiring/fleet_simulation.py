"""The real controller over a simulated host, in a time that is told: a week of classes in some seconds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from typing_extensions import override

from gateway.domain.fleet_simulation import HOUR_S, BellSeen, Sample, SimulatedWeek
from gateway.wiring.clock import SystemClock
from router.domain.fleet import ReplicaId
from router.fleet.adapters.always_leads import AlwaysLeads
from router.fleet.adapters.memory_ledger import MemoryLedger
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.adapters.quiet_alarm import QuietAlarm
from router.fleet.adapters.simulated.clock import Clock
from router.fleet.adapters.simulated.crowd import Crowd, crowd_of
from router.fleet.adapters.simulated.host import SimulatedHost
from router.fleet.adapters.simulated.machines import Machines
from router.fleet.adapters.simulated.mortal import ControllerKilled, mortal
from router.fleet.adapters.simulated.warmth import SimulatedWarmth
from router.fleet.controller import Controller
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.demand import Booking, PoolName, current, demand
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.steps import Block, summed
from router.fleet.domain.timeline import lead, reach_s, replicas_for
from router.fleet.domain.warmth import Prefix
from router.fleet.errors import CalendarUnavailable, FleetError, HostUnavailable, RoutersUnavailable
from router.fleet.keeping import Around, Pool, PoolReport
from router.fleet.ports import Calendar, Prefixes
from sessions.adapters.ical_process import CalendarProcesses
from sessions.domain.class_rows import ClassFile, RowDefaults

_Port = TypeVar("_Port")
_AFTER_S = 2 * HOUR_S
_UNREADABLE: dict[str, FleetError] = {
    "list": HostUnavailable("the simulated host cannot be asked"),
    "bookings": CalendarUnavailable("the simulated calendar cannot be read"),
    "state": RoutersUnavailable("the simulated routers cannot be reached"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What is played. All bookings are of one pool."""

    bookings: Sequence[Booking]
    rules: PoolRules
    starts: ColdStarts = field(default_factory=ColdStarts)
    seed: int = 1
    tick_s: float = 20.0
    """Between two rounds of the controller."""
    death_rate: float = 0.0
    """How likely the controller is killed in a round, before or after any question that it asks."""
    longest_death_s: float = 90.0
    blackout_rate: float = 0.0
    """How likely host, calendar and routers each cannot be read."""
    abandon_rate: float = 0.0
    """The share of trainees who leave their session open."""


async def simulated(simulation: Simulation, *, progress: Callable[[float], None] = lambda _: None) -> SimulatedWeek:
    """`progress` is told the share that is done, now and then."""
    return await _World(simulation).play(progress)


async def read_ical(raw: bytes, defaults: RowDefaults) -> ClassFile:
    """The classes of a calendar that are not over, as an import would have them."""
    return await CalendarProcesses().read(raw, defaults, now=SystemClock().now())


class _Classes(Calendar):
    """They are looked up by the hour, as often as somebody asks."""

    def __init__(self, bookings: Sequence[Booking]) -> None:
        self._bookings = bookings
        self._known: dict[tuple[float, float], Sequence[Booking]] = {}

    @override
    async def bookings(self, *, since: float, until: float) -> Sequence[Booking]:
        span = since // HOUR_S * HOUR_S, until // HOUR_S * HOUR_S + HOUR_S
        if span not in self._known:
            self._known = {span: [b for b in self._bookings if b.begins < span[1] and b.ends > span[0]]}
        return self._known[span]


class _NoPrefixes(Prefixes):
    @override
    async def of(self, pool: PoolName, bookings: Sequence[Booking]) -> Sequence[Prefix]:
        return ()


class _World:
    """All that goes on while controllers come and go."""

    def __init__(self, simulation: Simulation) -> None:
        dice = Random(simulation.seed)  # noqa: S311 - a simulation
        self._simulation = simulation
        self._dice = Random(dice.random())  # noqa: S311 - a simulation
        self._bookings = current(simulation.bookings)
        self._pool = self._bookings[0].pool
        self._seats = demand(self._bookings, self._pool)
        self._clock = Clock(min(b.begins for b in self._bookings) - self._early_s())
        self._ledger, self._routers = MemoryLedger(), MemoryRouters()
        self._machines = Machines(
            clock=self._clock,
            dice=Random(dice.random()),  # noqa: S311 - a simulation
            starts=simulation.starts,
        )
        self._host = SimulatedHost(machines=self._machines, clock=self._clock, stopped=self._stopped)
        self._calendar = _Classes(self._bookings)
        trainees = crowd_of(self._bookings, dice, abandon_rate=simulation.abandon_rate)
        self._crowd = Crowd(self._routers, simulation.rules.seats_per_replica, trainees)
        overtime = [Block(trainee.class_ends, trainee.leaves, 1) for trainee in trainees]
        self._used = summed([*self._seats.blocks(), *overtime])
        self._bells = sorted(self._bookings, key=lambda booking: booking.begins, reverse=True)
        self._bells_seen: list[BellSeen] = []
        self._samples: list[Sample] = []
        self._wanted = self._failed = self._kills = self._hit = 0
        self._dead_until = 0.0
        self._risks = self._last_risks = 0
        self._dies_at: int | None = None
        self._ordered = 0
        self._controller = self._next_controller()

    async def play(self, progress: Callable[[float], None]) -> SimulatedWeek:
        first, last = self._clock.now, max(b.ends for b in self._bookings) + _AFTER_S
        ticks = int((last - first) / self._simulation.tick_s)
        for tick in range(ticks):
            self._clock.now = first + tick * self._simulation.tick_s
            await self._tick(self._clock.now)
            if tick % 500 == 0:
                progress(tick / ticks)
        progress(1.0)
        return SimulatedWeek(
            tick_s=self._simulation.tick_s,
            samples=tuple(self._samples),
            bells=tuple(self._bells_seen),
            starts=self._machines.begun,
            failed_starts=self._failed,
            kills=self._kills,
            hit=self._hit,
            turned_away=self._crowd.turned_away,
            crowded=self._crowd.crowded,
        )

    def _early_s(self) -> float:
        """How long before the first bell anything may be wanted."""
        rules = self._simulation.rules
        return reach_s(rules, lead(rules, None)) + HOUR_S

    async def _tick(self, now: float) -> None:
        self._crowd.pass_time(now, spent_s=self._simulation.tick_s)
        self._ring(now)
        if not self._is_still(now):
            await self._round(now)
        self._samples.append(
            Sample(
                now,
                wanted=self._wanted,
                held=len(self._machines.here()),
                ready=self._ready(),
                used=replicas_for(self._used.at(now), self._simulation.rules),
            )
        )

    def _is_still(self, now: float) -> bool:
        """Whether the controller would find nothing and do nothing, as in most nights."""
        is_far = not self._bells or self._bells[-1].begins - now > self._early_s()
        return is_far and self._simulation.rules.minimum == 0 and self._wanted == 0 and not self._machines.here()

    def _ring(self, now: float) -> None:
        while self._bells and self._bells[-1].begins <= now:
            booking = self._bells.pop()
            needed = replicas_for(self._seats.at(booking.begins), self._simulation.rules)
            self._bells_seen.append(BellSeen(str(booking.id), booking.begins, self._ready(), needed))

    def _ready(self) -> int:
        return sum(replica not in self._routers.draining for replica in self._routers.joined)

    async def _round(self, now: float) -> None:
        if now < self._dead_until:
            return
        self._last_risks, self._risks = self._risks, 0
        is_last = self._dice.random() < self._simulation.death_rate
        self._dies_at = self._dice.randint(1, max(10, self._last_risks)) if is_last else None
        try:
            await self._controller.take_round(now)
        except ControllerKilled:
            self._kills += 1
            self._dead_until = now + self._dice.uniform(0.0, self._simulation.longest_death_s)
            self._controller = self._next_controller()

    def _next_controller(self) -> Controller:
        """One that has just come up, over what the last one left."""
        return Controller(
            pools=[Pool(self._pool, self._simulation.rules, self._risky(self._host))],
            around=Around(
                leadership=AlwaysLeads("simulated"),
                ledger=self._risky(self._ledger),
                calendar=self._risky(self._calendar),
                routers=self._risky(self._routers),
                warmth=self._risky(SimulatedWarmth(machines=self._machines, clock=self._clock)),
                prefixes=_NoPrefixes(),
                alarm=QuietAlarm(),
            ),
            clock=self._clock,
            new_id=self._new_id,
            told=self._told,
        )

    def _risky(self, port: _Port) -> _Port:
        simulation = self._simulation
        if not simulation.death_rate and not simulation.blackout_rate:
            return port
        return mortal(port, dies=self._dies, fails=self._blackout)

    def _dies(self) -> bool:
        self._risks += 1
        return self._risks == self._dies_at

    def _blackout(self, asked: str) -> FleetError | None:
        error = _UNREADABLE.get(asked)
        return error if error is not None and self._dice.random() < self._simulation.blackout_rate else None

    def _new_id(self, pool: PoolName) -> ReplicaId:
        self._ordered += 1
        return ReplicaId(f"{pool}-{self._ordered:04}")

    def _stopped(self, replica: ReplicaId) -> None:
        self._hit += self._crowd.on(replica)

    def _told(self, report: PoolReport) -> None:
        self._failed += sum(not start.went_warm for start in report.starts)
        if report.round is not None and report.round.wanted is not None:
            self._wanted = report.round.wanted
