"""Whether this process can serve, told dependency by dependency.

One replica is needed, and Postgres unless finished turns have somewhere to wait for it. Redis is not: without it turns
go on, placed by rendezvous and kept apart by the record, so its absence is shown and changes nothing. Nor is it an
outage when one model of several has no replica, since others stand in for it and its own work alone is refused, or when
a replica counts tokens otherwise. Where replicas follow the class calendar there are none between classes, and classes
can be planned all the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.model_tiers import Pool
from gateway.services import Check, Readiness
from gateway.token_drift import Agreement
from router.domain.fleet import Fleet

TELL_EVERY_S = 10.0
_LOOK_EVERY_S = 0.25

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class ReadinessCheck:
    def __init__(
        self,
        *,
        postgres: Callable[[], Check],
        redis: Callable[[], Check],
        replicas: Callable[[], Check],
        models: Callable[[], Sequence[Pool]],
        tokens: Callable[[], Agreement],
        stopping: asyncio.Event,
    ) -> None:
        self._postgres = postgres
        self._redis = redis
        self._replicas = replicas
        self._models = models
        self._tokens = tokens
        self._stopping = stopping

    async def __call__(self) -> Readiness:
        tokens = self._tokens()
        checks = {
            "postgres": self._postgres(),
            "redis": self._redis(),
            "replicas": self._replicas(),
            "models": pools_check(self._models()),
            "tokens": Check(ok=tokens.ok, detail=tokens.detail, needed=False),
        }
        if self._stopping.is_set():
            checks["process"] = Check(ok=False, detail="this process is shutting down")
        return Readiness(checks)


def with_checks(
    readiness: Callable[[], Awaitable[Readiness]], *others: Callable[[], Mapping[str, Check]]
) -> Callable[[], Awaitable[Readiness]]:
    """The same, with what others tell beside it."""

    async def ask() -> Readiness:
        found = await readiness()
        return Readiness(dict(chain(found.checks.items(), *(told().items() for told in others))))

    return ask


def postgres_check(*, missing: str | None, is_away: bool, has_spool: bool) -> Check:
    """`missing`: why it has not served this process yet. `has_spool`: finished turns can wait, so running sessions go
    on."""
    if missing is not None:
        return Check(ok=False, detail=missing)
    if not is_away:
        return Check(ok=True, detail="answers")
    goes_on = "running sessions go on, new ones are refused" if has_spool else "turns are refused"
    return Check(ok=False, detail=f"does not answer; {goes_on}", needed=not has_spool)


def redis_check(*, is_away: bool) -> Check:
    detail = "does not answer; turns go on without pins and leases" if is_away else "answers"
    return Check(ok=not is_away, detail=detail, needed=False)


def pools_check(pools: Sequence[Pool]) -> Check:
    """Which of the served models nobody serves now."""
    away = [pool.model for pool in pools if not pool.present]
    if away:
        return Check(ok=False, detail=f"no replica takes sessions for {', '.join(away)}", needed=False)
    return Check(ok=True, detail=f"{len(pools)} of {len(pools)} have replicas", needed=False)


def replica_check(fleet: Fleet, *, by_calendar: bool = False) -> Check:
    """`by_calendar`: somebody starts and stops them as classes need them."""
    if fleet.ready:
        return Check(ok=True, detail=f"{len(fleet.ready)} of {len(fleet.replicas)} ready", needed=not by_calendar)
    if not fleet.replicas:
        detail = "none is there; they are started before the next class" if by_calendar else "no replica is configured"
        return Check(ok=False, detail=detail, needed=not by_calendar)
    reasons = [f"{r.id} is {r.health}: {r.reason}" if r.reason else f"{r.id} is {r.health}" for r in fleet.replicas]
    return Check(ok=False, detail="; ".join(reasons), needed=not by_calendar)


async def tell_until_ready(readiness: Callable[[], Awaitable[Readiness]]) -> None:
    """Log what the process still waits for, at once and then now and then, until it can serve for the first time."""
    waited_s = 0.0
    while not (found := await readiness()).ready:
        if waited_s % TELL_EVERY_S == 0:
            missing = {name: check.detail for name, check in found.checks.items() if check.needed and not check.ok}
            _log.warning("waiting", missing=missing)
        await asyncio.sleep(_LOOK_EVERY_S)
        waited_s += _LOOK_EVERY_S
    _log.info("ready")
