"""What the edge needs of whoever counts: quotas, turns in flight and seats, over all processes."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from gateway.domain.access import Role
from gateway.domain.limit_layers import OwnLimits, TenantOwn
from gateway.domain.limits import AccountLimits, Claim, SeatClaim, Spent, Standing, TenantLimits


class Admission(Protocol):
    """What was taken for one piece of work: its place in flight, its request, and the tokens it may come to need."""

    @property
    def lease(self) -> str:
        """The owner's token of the session's turn lease, which was taken with the rest; empty: none was."""

    @property
    def standing(self) -> tuple[Standing, ...]:
        """What is left of each quota after this claim, for the headers."""

    def settle(self, spent: Spent) -> None:
        """Say what was really used; without it everything is given back, as if it had never been asked for."""


class Gate(Protocol):
    """Lets work in or refuses it, in one step over all limits: a refusal takes nothing."""

    def admit(self, claim: Claim) -> AbstractAsyncContextManager[Admission]:
        """Entering takes everything at once; while it is held its leases are renewed, and leaving gives them back.

        Raises `AccountLimitReached` (429, this account's limit), `DrillAtWatermark` (503, our capacity) or
        `SessionBusy` (409), each with the seconds after which it may be tried again.
        """

    async def seat(self, claim: SeatClaim) -> None:
        """Give the session a seat in its drill, or count it in its tenant; again for the same session is nothing.

        Raises `DrillFull` or `TenantFull`, or `SeatsUnavailable` when Redis has been away for longer than the grace.
        """

    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        """The session has ended. Never raises for a store that is away: a seat expires by itself."""


class EffectiveLimits(Protocol):
    """What holds for an account and a tenant now. Neither method raises: while the database is away, what was known
    last goes on, or else the installation's settings.
    """

    async def of_account(self, tenant: UUID, account: UUID) -> AccountLimits: ...

    async def of_tenant(self, tenant: UUID) -> TenantLimits: ...


@dataclass(frozen=True, slots=True)
class AccountOwn:
    """An account as far as its limits care."""

    role: Role | None = None
    own: OwnLimits = field(default_factory=OwnLimits)


class LimitStore(Protocol):
    """What operators have set. Each method raises `RecordsUnavailable`."""

    async def of_tenant(self, tenant: UUID) -> TenantOwn: ...

    async def of_account(self, tenant: UUID, account: UUID) -> AccountOwn | None:
        """None: there is no such account."""

    async def set_tenant(self, tenant: UUID, own: TenantOwn) -> None:
        """Instead of all that was set before."""

    async def set_account(self, tenant: UUID, account: UUID, own: OwnLimits) -> None:
        """Instead of all that was set before; raises `AccountNotFound`."""
