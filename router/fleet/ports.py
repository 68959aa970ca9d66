"""What the controller needs from outside. Moments are seconds since the epoch, on one clock for all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from router.domain.drain import DrainProgress
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.domain.canary import Hearing
from router.fleet.domain.demand import Booking, PoolName
from router.fleet.domain.hosted import HostedReplica, Mark
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import Floor, PoolBook, Round
from router.fleet.domain.replica_record import ReplicaRecord
from router.fleet.domain.scaling import Alert
from router.fleet.domain.warmth import Prefix, WarmLook
from router.fleet.domain.weights_list import WeightsFile, WeightsList


class ReplicaHost(Protocol):
    """Runs the replicas of one pool. Every method raises `HostUnavailable` when the host cannot be asked or did not do
    it; asking again for what is already so is nothing.
    """

    @property
    def names_replicas(self) -> bool:
        """Whether the host names its replicas itself: the id of an order then says nothing to it, and what it lists
        without an order is matched with the oldest order that has none.
        """

    async def list(self) -> Sequence[HostedReplica]:
        """All that the host has for this pool, those that ended or end among them, until they are stopped."""

    async def start(self, replica: ReplicaId, *, among: int) -> None:
        """Have it run. `among` is how many the pool has then, it included; a host that only counts goes by that."""

    async def mark(self, replica: ReplicaId, mark: Mark) -> None: ...

    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        """Have it gone, and everything of it; `among` is how many the pool has then. Returns once the host has taken
        the order; the replica is listed until it is gone. One that is not there is gone.
        """


class Calendar(Protocol):
    async def bookings(self, *, since: float, until: float) -> Sequence[Booking]:
        """All classes of all pools that touch the span, cancelled ones or not; raises `CalendarUnavailable`."""


class Ledger(Protocol):
    """Remembers. Every method raises `LedgerUnavailable`; those that write raise `NotLeading` once this process may no
    longer lead, and then have written nothing.
    """

    async def read(self, pool: PoolName) -> PoolBook: ...

    async def save(self, record: ReplicaRecord, *, instead_of: ReplicaId | None = None) -> None:
        """Write it; `instead_of` is the id it had before its host named it."""

    async def forget(self, record: ReplicaRecord, *, start: PastStart | None = None) -> None:
        """It is gone. `start`: how its start ended, where that is not told yet."""

    async def tell(self, pool: PoolName, start: PastStart) -> None:
        """A start has come to its end."""

    async def show(self, round_: Round) -> None:
        """Keep what was made of the pool, for whoever asks."""


class Register(Protocol):
    """The same memory, for those who only look, and for operators' wishes; raises `LedgerUnavailable`."""

    async def rounds(self) -> Sequence[Round]:
        """The last round of each pool that had one."""

    async def book(self, pool: PoolName) -> PoolBook: ...

    async def set_floor(self, pool: PoolName, floor: Floor | None) -> None:
        """None: take it back."""


class Leadership(Protocol):
    """At most one process of all leads at a time."""

    @property
    def name(self) -> str:
        """This process, for operators."""

    async def held(self) -> bool:
        """Whether this process leads now; it tries to, where nobody does. Never raises."""


@dataclass(frozen=True, slots=True)
class RoutersState:
    """What the routers know and say, of all pools."""

    joined: Mapping[ReplicaId, ReplicaSpec]
    """What was added to their fleet by order."""
    drains: Mapping[ReplicaId, DrainProgress]
    live_sessions: Mapping[ReplicaId, int] | None
    """Sessions used lately, of each replica that was asked for; None: the pins cannot be read."""


class Routers(Protocol):
    """The routers of the fleet, all processes together. Every method raises `RoutersUnavailable`."""

    async def state(self, replicas: Sequence[ReplicaId]) -> RoutersState: ...

    async def join(self, replica: ReplicaSpec) -> None:
        """Give it sessions from now on; ends its drain."""

    async def drain(self, replica: ReplicaId) -> None: ...

    async def keep(self, replica: ReplicaId) -> None:
        """End its drain."""

    async def leave(self, replica: ReplicaId) -> None:
        """Have it out of the fleet; nothing of it is kept."""


class Warmth(Protocol):
    """Warms replicas up beside the rounds: each look tells how far it is. Never raises for what a replica may do."""

    async def look(self, replica: ReplicaSpec, prefixes: Sequence[Prefix]) -> WarmLook:
        """The first look begins the work, in this process; it returns at once."""

    async def still_answers(self, replica: ReplicaSpec) -> bool | None:
        """Of one that serves: whether it generated its last canary; None: not known yet."""

    async def forget(self, replica: ReplicaId) -> None:
        """Stop whatever goes on for it."""


class Canaries(Protocol):
    async def hear(self, pool: PoolName, fingerprint: str, answer: str, replica: ReplicaId) -> Hearing:
        """Keep the digest of what a replica answered, and judge it by those of its pool with the same `fingerprint`,
        which names all that an answer may depend on; raises `LedgerUnavailable`.
        """


class WeightsSource(Protocol):
    """Where weights come from. It blocks, and belongs into a thread. Every method raises `WeightsUnusable`."""

    def files(self) -> WeightsList:
        """With the size of each where it is known."""

    def read(self, file: WeightsFile, *, start: int) -> Iterator[bytes]:
        """The bytes of one file from there on; they may end early, and be others than they should be."""


class Prefixes(Protocol):
    async def of(self, pool: PoolName, bookings: Sequence[Booking]) -> Sequence[Prefix]:
        """What the prompts of these classes begin with, soonest bell first, each scenario once. Empty where it cannot
        be told now: a class is better served cold than not at all.
        """


class Alarm(Protocol):
    async def short(self, pool: PoolName, alert: Alert) -> None:
        """Tell whoever is to know that replicas are missing; raises `AlarmNotHeard`."""

    async def over(self, pool: PoolName, alert: Alert) -> None:
        """They are there now; raises `AlarmNotHeard`."""
