"""The gate over all processes, in Redis.

One task renews whatever this process holds, at a third of the lease time. The end of work and of sessions is told by
tasks of their own: a cancellation does not lose it, and nobody waits for it for longer than a moment. What Redis did
not hear of is told again with the renewals; what it never hears of is given back by time.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Final, Self
from uuid import UUID

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.adapters.limit_scripts import LimitScripts, Renewal
from gateway.domain.limits import Claim, SeatClaim, Spent, Standing
from gateway.domain.quotas import quotas_of
from gateway.domain.refusals import check
from gateway.errors import LimitsUnavailable
from gateway.limit_ports import Admission, Gate

_RENEWED_AT_ONCE: Final = 100
_MOST_OWED: Final = 10_000
_PATIENCE_S: Final = 0.05

Debt = Callable[[], Awaitable[object]]
"""What Redis has yet to hear of."""

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class _Held(Admission):
    holder: str
    claim: Claim
    standings: tuple[Standing, ...] = ()
    spent: Spent | None = None

    @property
    @override
    def lease(self) -> str:
        return self.holder if self.claim.session else ""

    @property
    @override
    def standing(self) -> tuple[Standing, ...]:
        return self.standings

    @override
    def settle(self, spent: Spent) -> None:
        self.spent = spent


class RedisGate(Gate):
    """Use as an async context manager: leaving it waits for what is being settled, as long as Redis may take."""

    def __init__(self, scripts: LimitScripts) -> None:
        self._scripts = scripts
        self._tasks = asyncio.TaskGroup()
        self._held: dict[str, _Held] = {}
        self._owed: dict[str, Debt] = {}
        self._renewing: asyncio.Task[None] | None = None
        self._lost = 0
        self._late = 0

    def gauges(self) -> Mapping[str, float]:
        return {"limit_leases_held": len(self._held), "limit_settlements_owed": len(self._owed)}

    def counters(self) -> Mapping[str, float]:
        return {"limit_leases_lost": self._lost, "limit_settlements_late": self._late}

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._renewing = self._tasks.create_task(self._keep_renewing())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        # Whatever ended the block, what is being settled is not to be cancelled by the group.
        await self._tasks.__aexit__(None, None, None)

    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        held = _Held(secrets.token_hex(16), claim)
        try:
            verdict = await self._scripts.admit(held.holder, claim)
        except (LimitsUnavailable, asyncio.CancelledError):
            self._settle(held)  # Redis may have taken everything, or may yet do so
            raise
        held.standings = check(verdict, quotas_of(claim))
        self._held[held.holder] = held
        try:
            yield held
        finally:
            self._held.pop(held.holder, None)
            await asyncio.wait([self._settle(held)], timeout=_PATIENCE_S)

    @override
    async def seat(self, claim: SeatClaim) -> None:
        check(await self._scripts.seat(claim), ())

    @override
    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        leaving = partial(self._scripts.unseat, tenant, drill, session)
        await asyncio.wait([self._tasks.create_task(self._pay(str(session), leaving))], timeout=_PATIENCE_S)

    def _settle(self, held: _Held) -> asyncio.Task[None]:
        settling = partial(self._scripts.settle, held.holder, held.claim, held.spent)
        return self._tasks.create_task(self._pay(held.holder, settling))

    async def _pay(self, name: str, debt: Debt) -> None:
        try:
            await debt()
        except LimitsUnavailable:
            self._late += name not in self._owed
            if len(self._owed) < _MOST_OWED:
                self._owed[name] = debt
        else:
            self._owed.pop(name, None)

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._scripts.lease_us / 3_000_000)
            held = list(self._held.values())
            for first in range(0, len(held), _RENEWED_AT_ONCE):
                await self._renew(held[first : first + _RENEWED_AT_ONCE])
            for name, debt in list(self._owed.items()):
                await self._pay(name, debt)
                if name in self._owed:
                    break  # Redis is away; the others would only wait for it too

    async def _renew(self, held: Sequence[_Held]) -> None:
        renewals: list[Renewal] = [(one.holder, one.claim) for one in held]
        try:
            kept = await self._scripts.renew(renewals)
        except LimitsUnavailable as error:
            _log.warning("leases not renewed", count=len(held), detail=str(error))
            return
        # Whoever has left meanwhile has not lost anything.
        lost = [one for one, is_kept in zip(held, kept, strict=True) if not is_kept and one.holder in self._held]
        for one in lost:
            del self._held[one.holder]
        self._lost += len(lost)
        if lost:
            _log.warning("leases lost", count=len(lost))
