"""What the edge needs from outside."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Protocol
from uuid import UUID

from gateway.domain.access import KeyId, Principal, Role, StoredKey
from gateway.domain.replica_state import ReplicaState
from router.domain.asks import Asks
from router.domain.decision import Decision
from router.domain.exchange import ChatRequest, StreamItem
from router.domain.fleet import AffinityKey, Fleet, ReplicaId
from router.domain.pin import PinDecision


@dataclass(frozen=True, slots=True)
class Account:
    """Who can sign in; `name` is unique in its tenant."""

    id: UUID
    tenant: UUID
    role: Role
    name: str

    @property
    def principal(self) -> Principal:
        return Principal(self.tenant, self.id, self.role)


class Keys(Protocol):
    """The API keys; only hashes are kept. Each method raises `KeysUnavailable` when nobody can tell."""

    async def find(self, key: KeyId) -> StoredKey | None: ...

    async def add(self, key: StoredKey, *, at: datetime) -> None:
        """Raises `AccountRefused` when the id is taken or the owner is not there, and `TooManyKeys` when the owner has
        `LIVE_KEYS` already.
        """

    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        """Whether there was such a living key."""

    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        """Every key of the tenant with its owner, oldest first."""


class Accounts(Protocol):
    """Tenants and their accounts. Each method raises `KeysUnavailable` when nobody can tell."""

    async def tenant(self, slug: str, *, name: str, at: datetime) -> UUID:
        """The tenant of this slug, made when there is none."""

    async def tenant_id(self, slug: str) -> UUID | None: ...

    async def account(self, tenant: UUID, name: str, role: Role, *, at: datetime) -> Account:
        """The account of this name, made when there is none; raises `AccountRefused` when it has another role."""

    async def person(self, tenant: UUID, name: str, role: Role, display_name: str | None, *, at: datetime) -> UUID:
        """The account of who signs in by a token, made with this role when there is none; another role is no matter.

        Raises `AccountRefused` when there is no such tenant.
        """


class TurnReply(Protocol):
    """A reply that a replica has taken; its items are pieces of text and then, unless it raises, one `Finished`."""

    @property
    def replica(self) -> ReplicaId:
        """Where it is generated now."""

    @property
    def pin(self) -> PinDecision: ...

    @property
    def continued(self) -> int:
        """How often another replica has taken it over after it had begun."""

    def __aiter__(self) -> AsyncIterator[StreamItem]: ...

    async def __anext__(self) -> StreamItem:
        """Raises `EngineBroke` or `EngineTimedOut` when the reply breaks for good."""


class TurnRouter(Protocol):
    """The router as the edge uses it, in this process or behind HTTP."""

    def turn(self, key: AffinityKey, request: ChatRequest, *, asks: Asks) -> AbstractAsyncContextManager[TurnReply]:
        """Entering returns once a replica has taken the request, before any token; leaving stops it down to the engine.

        Raises `NoReplicaAvailable`, `NoRoom`, `ModelUnknown` or an `EngineError`.
        """

    async def end(self, key: AffinityKey) -> None:
        """The session is over. Never raises for a store or a router that is away."""

    async def prewarm(self, key: AffinityKey, request: ChatRequest) -> None:
        """Have the prompt in the session's replica before its next turn. Returns at once and never raises."""

    def fleet(self) -> Fleet:
        """The replicas as last seen; never blocks."""


class LineReply(Protocol):
    """A router's answer as it arrives; whoever opened it must close it."""

    @property
    def status(self) -> int: ...

    def header(self, name: str) -> str:
        """Named in lower case; empty if there is none."""

    async def read(self) -> bytes:
        """The next bytes; empty at the end. Raises an `EngineError`."""

    async def body(self) -> bytes:
        """All of a short answer, which is closed then. Raises an `EngineError`."""

    def close(self) -> None:
        """Cuts what has not ended, upon which the router stops the engine. May be called twice."""


class RouterLine(Protocol):
    """HTTP to a router that runs alone."""

    async def stream(self, path: str, *, headers: Iterable[tuple[str, str]], body: bytes) -> LineReply:
        """Return once a status has come. Raises an `EngineError`."""

    async def whole(self, path: str, *, headers: Iterable[tuple[str, str]], body: bytes) -> LineReply:
        """As `stream`, for an answer that is none: its status comes with its end."""

    async def ask(self, method: str, path: str, *, body: bytes = b"") -> tuple[HTTPStatus, bytes]:
        """A short call. Raises an `EngineError`."""


class FleetDesk(Protocol):
    """What operators see of the fleet and order of it. Every method raises `RouterUnreachable` when nobody can be
    asked.
    """

    async def replicas(self) -> Sequence[ReplicaState]:
        """All of them, in a fixed order."""

    async def replica(self, replica: ReplicaId) -> ReplicaState:
        """Raises `ReplicaUnknown`."""

    async def drain(self, replica: ReplicaId, *, within_s: float | None) -> None:
        """Order it emptied; None: within the time of the settings. Raises `ReplicaUnknown` or `BoardUnavailable`."""

    async def undo_drain(self, replica: ReplicaId) -> None:
        """Nothing when it is not being drained; raises like `drain`."""

    async def decision(self, request_id: str) -> Decision | None:
        """Why that turn ran where it did; raises `DecisionsUnavailable`."""
