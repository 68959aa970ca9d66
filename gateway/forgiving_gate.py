"""The policy for limits whose Redis is away: each process goes on with its share of them.

Account rates, turns in flight and a drill's watermark come from local buckets. A local one knows no more than its own
process: the share says how much of each limit that may be, and the record guards against two turns of one session that
run on two processes. Seats would be given twice, so after a short grace there are no new ones.

Redis is asked again about once a second, by one claim at a time; no other waits for a Redis that is away.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from uuid import UUID

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.domain.limits import Claim, SeatClaim, Spent, Standing
from gateway.domain.quotas import share_of_account, share_of_drill
from gateway.errors import GatewayError, LimitsUnavailable, SeatsUnavailable
from gateway.limit_ports import Admission, Gate
from sessions.errors import SessionsError

_ASK_AGAIN_S = 1.0
_SEAT_RETRY_S = 5.0

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _LocalAdmission(Admission):
    """Holds no turn lease that another process could see."""

    local: Admission

    @property
    @override
    def lease(self) -> str:
        return ""

    @property
    @override
    def standing(self) -> tuple[Standing, ...]:
        return self.local.standing

    @override
    def settle(self, spent: Spent) -> None:
        self.local.settle(spent)


class ForgivingGate(Gate):
    """`shared` raises `LimitsUnavailable` when it is away; `local` counts for this process alone."""

    def __init__(
        self, shared: Gate, *, local: Gate, clock: Callable[[], float], share: float = 0.5, grace_s: float = 10.0
    ) -> None:
        self._shared = shared
        self._local = local
        self._clock = clock
        self._share = Fraction(share)
        self._grace_s = grace_s
        self._away_since: float | None = None
        self._ask_from = 0.0
        self._failures = 0
        self._local_claims = 0
        self._seats_refused = 0

    def gauges(self) -> Mapping[str, float]:
        return {"limits_local": self._away_since is not None}

    def counters(self) -> Mapping[str, float]:
        return {
            "limit_failures": self._failures,
            "limit_local_claims": self._local_claims,
            "limit_seats_refused": self._seats_refused,
        }

    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        async with AsyncExitStack() as held:
            yield await self._admission(held, claim)

    @override
    async def seat(self, claim: SeatClaim) -> None:
        if self._may_ask():
            with self._asking():
                await self._seat_there(claim)
                return
        if self._is_grace_over():
            self._seats_refused += 1
            raise SeatsUnavailable(retry_after_s=_SEAT_RETRY_S)
        await self._local.seat(claim)

    @override
    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        await self._local.unseat(tenant, drill, session)
        await self._shared.unseat(tenant, drill, session)

    async def _seat_there(self, claim: SeatClaim) -> None:
        try:
            await self._shared.seat(claim)
        except LimitsUnavailable:
            if self._is_grace_over():  # it will be refused, and a Redis that is only slow may have given it
                await self._shared.unseat(claim.tenant, claim.drill, claim.session)
            raise

    def _is_grace_over(self) -> bool:
        return self._away_since is not None and self._clock() - self._away_since >= self._grace_s

    async def _admission(self, held: AsyncExitStack, claim: Claim) -> Admission:
        if self._may_ask():
            with self._asking():
                return await held.enter_async_context(self._shared.admit(claim))
        self._local_claims += 1
        shared = replace(
            claim,
            limits=share_of_account(claim.limits, self._share),
            drill_limits=share_of_drill(claim.drill_limits, self._share),
        )
        return _LocalAdmission(await held.enter_async_context(self._local.admit(shared)))

    def _may_ask(self) -> bool:
        return self._away_since is None or self._clock() >= self._ask_from

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """What is asked of the shared limits; goes on behind the block when they are away."""
        if self._away_since is not None:
            self._ask_from = self._clock() + _ASK_AGAIN_S  # for all others
        try:
            yield
        except LimitsUnavailable as error:
            self._lost(error)
        except (GatewayError, SessionsError):
            self._found()  # it refuses, so it is there
            raise
        else:
            self._found()

    def _lost(self, error: LimitsUnavailable) -> None:
        self._failures += 1
        self._ask_from = self._clock() + _ASK_AGAIN_S
        if self._away_since is None:
            self._away_since = self._clock()
            _log.warning("shared limits lost", detail=str(error))

    def _found(self) -> None:
        if self._away_since is not None:
            _log.info("shared limits back", failures=self._failures)
        self._away_since = None
