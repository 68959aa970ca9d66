"""What the router needs from outside."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from router.domain.exchange import ChatRequest, StreamItem
from router.domain.fleet import AffinityKey, Fleet, Replica, ReplicaId
from router.domain.pin import Pin


class PinStore(Protocol):
    """Remembers which replica holds a session's cache. A pin lives until `end`, or until nobody used it for its time
    to live.

    Every method raises `PinStoreUnavailable` when the store cannot be asked.
    """

    async def get(self, key: AffinityKey) -> Pin | None: ...

    async def claim(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        prefer: ReplicaId | None = None,
    ) -> Pin:
        """Choose and pin in one step, unless another router was first; return the pin that won.

        The pin is written only if the stored one still is `replacing` (None: there is none); otherwise the stored one
        is returned untouched. `prefer` is taken when it is a candidate; else the candidate with the fewest pinned
        sessions, the earlier one of equals. The choice counts as a session of its replica at once, and a replaced pin
        no longer. `candidates` must not be empty.
        """

    async def end(self, key: AffinityKey) -> None:
        """Forget the session; its replica has one session less. Ending twice is nothing."""

    async def sessions(self, replicas: Sequence[ReplicaId]) -> Mapping[ReplicaId, int]:
        """How many sessions are pinned to each."""


class FleetSource(Protocol):
    """Knows the replicas and their health."""

    def current(self) -> Fleet:
        """The fleet as last seen; never blocks."""

    def saw_failure(self, replica: ReplicaId, detail: str) -> None:
        """A turn could not reach this replica; it is DOWN until a probe says otherwise."""


class Engine(Protocol):
    """Speaks to one replica."""

    def stream(self, replica: Replica, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Open one generation; entering returns once the replica has answered with a status.

        Entering raises `EngineUnreachable`, `EngineTimedOut`, `EngineBusy` or `EngineRejected`. The iterator yields
        pieces of text and ends with exactly one `Finished`; every other end raises `EngineBroke` or `EngineTimedOut`.
        Leaving closes the connection, upon which vLLM aborts the request.
        """
