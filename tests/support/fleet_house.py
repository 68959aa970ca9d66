"""A controller over memory and simulated machines, with hands on all that it asks."""

from collections.abc import Callable, Sequence
from itertools import count
from random import Random

from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.memory_ledger import MemoryLedger
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.adapters.simulated.clock import Clock
from router.fleet.adapters.simulated.host import SimulatedHost
from router.fleet.adapters.simulated.machines import Machines
from router.fleet.adapters.simulated.mortal import mortal
from router.fleet.adapters.simulated.warmth import SimulatedWarmth
from router.fleet.controller import Controller
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.demand import Booking, BookingId, PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.scaling import Alert
from router.fleet.domain.warmth import Prefix
from router.fleet.errors import AlarmNotHeard, CalendarUnavailable
from router.fleet.keeping import Around, Pool, PoolReport
from router.fleet.ports import Alarm, Calendar, Leadership, Prefixes, ReplicaHost

POOL = PoolName("qwen")
START_S = 60.0
ROUND_S = 5.0
CERTAIN = ColdStarts(fastest_s=START_S, slowest_s=START_S, failure_rate=0.0)


def booking(name: str, begins: float, ends: float, expected: int, *, pool: PoolName = POOL) -> Booking:
    return Booking(BookingId(name), pool, begins, ends, expected)


class ListedClasses(Calendar):
    def __init__(self, bookings: Sequence[Booking]) -> None:
        self.listed = list(bookings)
        self.is_away = False

    @override
    async def bookings(self, *, since: float, until: float) -> Sequence[Booking]:
        if self.is_away:
            raise CalendarUnavailable("the calendar is away")
        return [b for b in self.listed if b.begins < until and b.ends > since]


class HeardAlarm(Alarm):
    def __init__(self) -> None:
        self.heard: list[str] = []
        self.is_away = False

    @override
    async def short(self, pool: PoolName, alert: Alert) -> None:
        self._hear(f"short: {alert}")

    @override
    async def over(self, pool: PoolName, alert: Alert) -> None:
        self._hear("over")

    def _hear(self, what: str) -> None:
        if self.is_away:
            raise AlarmNotHeard("nobody hears it")
        self.heard.append(what)


class AskedPrefixes(Prefixes):
    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    @override
    async def of(self, pool: PoolName, bookings: Sequence[Booking]) -> Sequence[Prefix]:
        self.asked.append(tuple(booking.id for booking in bookings))
        return [Prefix(str(booking.id), []) for booking in bookings]


class NamingHost(ReplicaHost):
    """Names its replicas itself, as Kubernetes does: it only counts how many there are to be."""

    def __init__(self, inner: SimulatedHost, machines: Machines) -> None:
        self._inner = inner
        self._machines = machines
        self._names = count(1)

    @property
    @override
    def names_replicas(self) -> bool:
        return True

    @override
    async def list(self) -> Sequence[HostedReplica]:
        return await self._inner.list()

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        there = [hosted for hosted in await self._inner.list() if hosted.phase is not HostPhase.STOPPING]
        for _ in range(among - len(there)):
            await self._inner.start(ReplicaId(f"pod-{next(self._names)}"), among=among)

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        await self._inner.mark(replica, mark)

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        await self._inner.stop(replica, among=among)


class MarkedHost(SimulatedHost):
    """Remembers what it was told to mark."""

    marks: list[tuple[ReplicaId, Mark]]

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        await super().mark(replica, mark)
        self.marks.append((replica, mark))


class WatchedRouters(MemoryRouters):
    """`left` is told of every replica that they are to give up, while it is still known who sits there."""

    def __init__(self, left: Callable[[ReplicaId], None]) -> None:
        super().__init__()
        self._left = left

    @override
    async def leave(self, replica: ReplicaId) -> None:
        self._left(replica)
        await super().leave(replica)


class FleetHouse:
    """`classes` are what the calendar tells; time passes as the test says."""

    def __init__(
        self,
        classes: Sequence[Booking] = (),
        *,
        rules: PoolRules | None = None,
        starts: ColdStarts = CERTAIN,
        names: bool = False,
    ) -> None:
        self.rules = rules or PoolRules(seats_per_replica=8, maximum=4, lead_s=600.0)
        self.clock = Clock(0.0)
        self.machines = Machines(clock=self.clock, dice=Random(1), starts=starts)  # noqa: S311 - a simulation
        self.stopped_under: list[ReplicaId] = []
        self.marked = MarkedHost(machines=self.machines, clock=self.clock, stopped=self._stopped)
        self.marked.marks = []
        self.host: ReplicaHost = NamingHost(self.marked, self.machines) if names else self.marked
        self.ledger = MemoryLedger(leads=lambda: self.leads)
        self.routers = WatchedRouters(self._stopped)
        self.warmth = SimulatedWarmth(machines=self.machines, clock=self.clock)
        self.calendar = ListedClasses(classes)
        self.alarm = HeardAlarm()
        self.prefixes = AskedPrefixes()
        self.leads = True
        self.reports: list[PoolReport] = []
        self._ids = count(1)
        self.controller = self.next_controller()

    def next_controller(self, dies: Callable[[], bool] = lambda: False) -> Controller:
        """One that has just come up; `dies` is asked before and after each of its questions."""
        self.warmth = SimulatedWarmth(machines=self.machines, clock=self.clock)
        self.controller = Controller(
            pools=[Pool(POOL, self.rules, mortal(self.host, dies=dies))],
            around=self.around(dies),
            clock=self.clock,
            new_id=lambda pool: ReplicaId(f"{pool}-{next(self._ids)}"),
            told=self.reports.append,
        )
        return self.controller

    def around(self, dies: Callable[[], bool] = lambda: False) -> Around:
        return Around(
            leadership=_LeadsOrNot(self),
            ledger=mortal(self.ledger, dies=dies),
            calendar=mortal(self.calendar, dies=dies),
            routers=mortal(self.routers, dies=dies),
            warmth=mortal(self.warmth, dies=dies),
            prefixes=self.prefixes,
            alarm=self.alarm,
        )

    async def round(self) -> PoolReport:
        (report,) = await self.controller.take_round(self.clock.now)
        return report

    async def until(self, moment: float) -> PoolReport:
        """Rounds every few seconds; the last of them at that moment."""
        while self.clock.now + ROUND_S < moment:
            self.clock.now += ROUND_S
            await self.round()
        self.clock.now = moment
        return await self.round()

    def deeds(self) -> list[str]:
        return [deed.what for report in self.reports for deed in report.deeds]

    def _stopped(self, replica: ReplicaId) -> None:
        """Of one that lives, and has people on it."""
        machine = self.machines.here().get(replica)
        lives = machine is not None and self.clock.now < machine.ends_at and replica not in self.warmth.frozen
        if lives and self.routers.sessions.get(replica):
            self.stopped_under.append(replica)


class _LeadsOrNot(Leadership):
    def __init__(self, house: FleetHouse) -> None:
        self._house = house

    @property
    @override
    def name(self) -> str:
        return "test"

    @override
    async def held(self) -> bool:
        return self._house.leads
