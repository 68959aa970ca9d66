"""Counts whom a gate lets in, and by which limit it refuses the others."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from uuid import UUID

from typing_extensions import override

from gateway.domain.limits import Claim, SeatClaim
from gateway.errors import AccountLimitReached, DrillAtWatermark, DrillFull, GatewayError, SeatsUnavailable, TenantFull
from gateway.limit_ports import Admission, Gate
from sessions.errors import SessionBusy

_NAMES: Mapping[type[GatewayError], str] = {
    DrillAtWatermark: "watermark",
    DrillFull: "seats",
    TenantFull: "tenant_sessions",
    SeatsUnavailable: "unavailable",
}


class CountedGate(Gate):
    def __init__(self, gate: Gate, *, refused: Callable[[str], None]) -> None:
        self._gate = gate
        self._refused = refused
        self._admitted = 0
        self._inside = 0

    def gauges(self) -> Mapping[str, float]:
        return {"limit_in_flight": self._inside}

    def counters(self) -> Mapping[str, float]:
        return {"limit_admitted": self._admitted}

    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        async with AsyncExitStack() as held:
            with self._counting():
                admission = await held.enter_async_context(self._gate.admit(claim))
            self._admitted += 1
            self._inside += 1
            try:
                yield admission
            finally:
                self._inside -= 1

    @override
    async def seat(self, claim: SeatClaim) -> None:
        with self._counting():
            await self._gate.seat(claim)

    @override
    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        await self._gate.unseat(tenant, drill, session)

    @contextmanager
    def _counting(self) -> Iterator[None]:
        try:
            yield
        except AccountLimitReached as error:
            self._refused(error.limit)
            raise
        except SessionBusy:
            self._refused("session")
            raise
        except (DrillAtWatermark, DrillFull, TenantFull, SeatsUnavailable) as error:
            self._refused(_NAMES[type(error)])
            raise
