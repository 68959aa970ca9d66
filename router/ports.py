"""What the router needs from outside."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from router.domain.board import Board, RouterId
from router.domain.decision import Decision
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, Fleet, Replica, ReplicaId, ReplicaSpec
from router.domain.pin import Demand, InUse, Pin, PinnedLoad
from router.domain.sighting import Look


class PinStore(Protocol):
    """Remembers which replica holds a session's cache. A pin lives until `end`, or until nobody used it for its time
    to live.

    Every method raises `PinStoreUnavailable` when the store cannot be asked.
    """

    async def get(self, key: AffinityKey) -> Pin | None:
        """The pin, whose time to live starts anew. What another router has moved or ended before this call began is
        seen.
        """

    async def claim(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        demand: Demand,
        prefer: ReplicaId | None = None,
    ) -> Pin:
        """Choose and pin in one step, unless another claim was first; return the pin that won, and whether it is ours.

        The pin is written only if the stored one still is `replacing` (None: there is none); otherwise the stored one
        is returned untouched. `prefer` is taken when it is a candidate; else `choose` of router/domain/placement.py
        decides by what is pinned to each candidate. The choice counts as load of its replica at once, and a replaced
        pin no longer. `candidates` must not be empty.
        """

    async def end(self, key: AffinityKey) -> None:
        """Forget the session; its replica has one session less. Ending twice is nothing."""

    async def loads(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, PinnedLoad]:
        """What is pinned to each of them."""

    async def pinned(self, replica: ReplicaId, *, limit: int) -> Sequence[tuple[AffinityKey, Pin]]:
        """At most so many of the sessions pinned to it, the longest unused first."""


class PinUse(Protocol):
    """Which pins are in use, beside those that only wait for their time to live."""

    async def in_use(self, replicas: Sequence[ReplicaId], *, within_s: float) -> InUse:
        """Sessions of each that were used within so long; raises `PinStoreUnavailable`."""


class FleetBoard(Protocol):
    """Carries orders to every router process, and their acknowledgements back. One change is one atomic step.

    Every method raises `BoardUnavailable` when it cannot be asked; the last board that was read then goes on.
    """

    async def read(self) -> Board:
        """Routers that have not reported for a while are no longer in it."""

    async def add(self, replica: ReplicaSpec) -> None:
        """Have it in the fleet beside those of the source; ends a removal or a drain of the same id."""

    async def remove(self, replica: ReplicaId, *, keeps_out: bool = True) -> None:
        """Have it out of the fleet, whatever the source says; ends its drain.

        Not `keeps_out`: only undo whatever was ordered of it. Nothing of it is kept then, and there is always place.
        """

    async def drain(self, replica: ReplicaId, *, within_s: float | None) -> None:
        """Order it emptied by then; a second order changes the deadline only. None: end the drain."""

    async def report(self, router: RouterId, in_flight: Mapping[ReplicaId, int] | None) -> None:
        """This router lives, has seen these drains, and has so many streams in flight there; None: it leaves."""


class FleetSource(Protocol):
    """Knows which replicas there should be; the one that reads the settings, a file or Kubernetes."""

    async def replicas(self) -> Sequence[ReplicaSpec]:
        """All of them, in a fixed order; raises `FleetSourceUnavailable`, upon which the last known ones go on."""

    async def changed(self) -> None:
        """Return when it may be worth asking again. May return too often, must not return late by more than some
        seconds, and may never return where nothing can change.
        """


class Probe(Protocol):
    """Looks at one replica through its own API. No method raises for what a replica may do."""

    async def look(self, spec: ReplicaSpec) -> Look:
        """Whether it answers (PROBE_PASSED or PROBE_FAILED), and its metrics."""

    async def register(self, spec: ReplicaSpec) -> Look:
        """Whether it is the one meant: ACCEPTED with what it serves, REFUSED, or PROBE_FAILED."""

    async def try_out(self, spec: ReplicaSpec, models: Collection[str]) -> Look:
        """Have it generate one token with one of these: CANARY_PASSED or CANARY_FAILED."""


class FleetView(Protocol):
    """The replicas as this process sees them now."""

    def current(self) -> Fleet:
        """The fleet as last seen; never blocks."""

    def saw_failure(self, replica: ReplicaId, detail: str) -> None:
        """A turn could not reach this replica; it is DOWN until a probe says otherwise."""

    def saw_late_connect(self, replica: ReplicaId, detail: str) -> None:
        """A turn got no connection to it in time; a probe is to look at it now."""


class Answer(Protocol):
    """A replica's answer with status 200, as it arrives."""

    @property
    def content_type(self) -> str: ...

    async def read(self) -> bytes:
        """The next bytes, as many as have come; empty once the body has ended as it should.

        Raises `EngineBroke` when it is cut off, `EngineTimedOut` when the replica stays silent for longer than it may:
        before the first event, between two events, and over the whole answer. Comments are not events.
        """

    def short_cut(self, take: Callable[[bytes], bool] | None) -> None:  # noqa: ARG002 - here it is left at reading
        """While a read waits, offer what comes to `take` first; what that takes no read returns. None: no longer.

        It spares waking the reader. An answer may leave it at reading.
        """
        return

    def close(self) -> None:
        """Give the connection back, or cut it if the answer has not ended, upon which vLLM aborts the request. May be
        called twice.
        """


class Engine(Protocol):
    """Speaks to one replica."""

    async def open(self, replica: Replica, call: Call) -> Answer:
        """Send the call and return once the replica has answered 200; whoever opened must close.

        Raises `EngineUnreachable`, `EngineTimedOut`, `EngineBusy` or `EngineRejected`. When cancelled nothing stays
        open.
        """

    def give_up(self, replica: Replica, *, waited_s: float) -> None:  # noqa: ARG002 - here it is left at waiting
        """Its answers that came not in pieces, and were asked for so long ago, time out now: nothing else would end
        the wait for them but the time of the whole reply. An engine may leave it at waiting.
        """
        return

    async def text_of(self, replica: Replica, tokens: Sequence[int]) -> str | None:  # noqa: ARG002 - not all can say
        """What these tokens say; None where the replica does not tell, in a second or at all. Never raises for it."""
        return None


class DecisionLog(Protocol):
    """Keeps the decisions of the last turns, for whoever asks why. Losing them loses no turn."""

    def write(self, decision: Decision) -> None:
        """Keep it. Returns at once; a store that is away costs the entry, which is counted, and nothing else."""

    async def find(self, request_id: str) -> Decision | None:
        """The decision of that turn, whichever router took it; raises `DecisionsUnavailable`."""


class Span(Protocol):
    """One piece of work that is being traced."""

    @property
    def parent_header(self) -> str:
        """The W3C `traceparent` that makes another service's span a child of this one; empty: not traced."""

    def note(self, name: str, value: str | float) -> None: ...

    def end(self, *, failed: str = "") -> None:
        """Close it, as failed for this reason if there is one."""


class Tracing(Protocol):
    """Starts spans. Names and values never hold people's words."""

    def start(self, name: str, *, parent_header: str = "") -> Span: ...
