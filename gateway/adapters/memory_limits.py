"""The gate of one process, on the arithmetic itself; its leases need no renewal, since a holder that dies takes them
along."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from typing_extensions import override

from gateway.domain.limit_book import LimitBook
from gateway.domain.limits import Claim, SeatClaim, Spent, Standing
from gateway.domain.quotas import quotas_of
from gateway.domain.refusals import check
from gateway.limit_ports import Admission, Gate

_LONGER_THAN_ANY_TURN_US = 24 * 3600 * 1_000_000
_CLAIMS_BETWEEN_CLEANINGS = 1_000


@dataclass(slots=True)
class MemoryAdmission(Admission):
    lease_held: str
    standings: tuple[Standing, ...]
    spent: Spent | None = None

    @property
    @override
    def lease(self) -> str:
        return self.lease_held

    @property
    @override
    def standing(self) -> tuple[Standing, ...]:
        return self.standings

    @override
    def settle(self, spent: Spent) -> None:
        self.spent = spent


class MemoryGate(Gate):
    """`clock` gives seconds that only ever grow."""

    def __init__(self, *, clock: Callable[[], float], seat_s: float = 4 * 3600) -> None:
        self._clock = clock
        self._book = LimitBook(lease_us=_LONGER_THAN_ANY_TURN_US, seat_us=round(seat_s * 1_000_000))
        self._claims = 0

    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        self._clean_up()
        holder = secrets.token_hex(16)
        standings = check(self._book.admit(holder, claim, self._now()), quotas_of(claim))
        admission = MemoryAdmission(holder if claim.session else "", standings)
        try:
            yield admission
        finally:
            self._book.settle(holder, claim, admission.spent, self._now())
            self._book.forget(holder)

    @override
    async def seat(self, claim: SeatClaim) -> None:
        self._clean_up()
        check(self._book.seat(claim, self._now()), ())

    @override
    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        self._book.unseat(tenant, drill, session)

    def _clean_up(self) -> None:
        self._claims += 1
        if self._claims % _CLAIMS_BETWEEN_CLEANINGS == 0:
            self._book.forget_idle(self._now())

    def _now(self) -> int:
        return round(self._clock() * 1_000_000)
