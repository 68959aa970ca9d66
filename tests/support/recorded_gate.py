"""A gate that lets everybody in, or nobody, and writes down what became of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from typing_extensions import override

from gateway.domain.limits import Claim, SeatClaim, Spent, Standing
from gateway.limit_ports import Admission, Gate

STANDING = (Standing("requests", 10, 9, 6.0, 60.0),)


@dataclass
class _Admission(Admission):
    owner: str
    spent: list[Spent] = field(default_factory=list)

    @property
    @override
    def lease(self) -> str:
        return self.owner

    @property
    @override
    def standing(self) -> tuple[Standing, ...]:
        return STANDING

    @override
    def settle(self, spent: Spent) -> None:
        self.spent.append(spent)


@dataclass
class RecordedGate(Gate):
    refusal: Exception | None = None
    claims: list[Claim] = field(default_factory=list)
    admissions: list[_Admission] = field(default_factory=list)
    seats: list[SeatClaim] = field(default_factory=list)
    unseated: list[tuple[UUID, UUID | None, UUID]] = field(default_factory=list)
    inside: int = 0

    @property
    def settled(self) -> list[Spent]:
        return [spent for admission in self.admissions for spent in admission.spent]

    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        self.claims.append(claim)
        if self.refusal is not None:
            raise self.refusal
        admission = _Admission(f"lease-{len(self.claims)}")
        self.admissions.append(admission)
        self.inside += 1
        try:
            yield admission
        finally:
            self.inside -= 1

    @override
    async def seat(self, claim: SeatClaim) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.seats.append(claim)

    @override
    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        self.unseated.append((tenant, drill, session))
