"""What the proxy needs of the router."""

from collections.abc import Callable
from typing import Protocol

from router.domain.asks import Asks
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, Fleet, ReplicaId
from router.domain.pin import PinDecision


class Reply(Protocol):
    """A reply that a replica has taken."""

    @property
    def replica(self) -> ReplicaId: ...

    @property
    def pin(self) -> PinDecision: ...

    @property
    def content_type(self) -> str: ...

    async def read(self) -> bytes:
        """Streamed: the next whole events; otherwise the body; empty at the end. Raises a `RouterError`."""

    def short_cut(self, give: Callable[[bytes], bool]) -> None:
        """Give ordinary events of a stream to the client as they come, while a `read` waits that does not return them.
        Of what `give` refuses nothing may have been sent; `read` returns it.
        """

    def close(self) -> None:
        """Give everything back; what is not finished is cut. May be called twice."""


class Carrier(Protocol):
    """Takes calls to replicas."""

    async def carry(self, call: Call, *, session: AffinityKey | None, asks: Asks) -> Reply:
        """Return once a replica has taken the call; raises a `RouterError`."""

    def fleet(self) -> Fleet: ...
