"""A gate that lets everybody in and counts nobody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from typing_extensions import override

from gateway.domain.limits import Claim, SeatClaim, Spent, Standing
from gateway.limit_ports import Admission, Gate


class _Open(Admission):
    @property
    @override
    def lease(self) -> str:
        return ""

    @property
    @override
    def standing(self) -> tuple[Standing, ...]:
        return ()

    @override
    def settle(self, spent: Spent) -> None:
        pass


class OpenGate(Gate):
    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        yield _Open()

    @override
    async def seat(self, claim: SeatClaim) -> None:
        pass

    @override
    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        pass
