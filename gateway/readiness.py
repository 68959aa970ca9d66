"""Whether this process can serve, told dependency by dependency.

Postgres and one replica are needed. Redis is not: without it turns go on, placed by rendezvous and kept apart by the
record, so its absence is shown and changes nothing. Nor is it an outage when one model of several has no replica, since
others stand in for it and its own work alone is refused, or when a replica counts tokens otherwise.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from gateway.model_tiers import Pool
from gateway.services import Check, Readiness
from gateway.token_drift import Agreement
from router.domain.fleet import Fleet

PATIENCE_S = 2.0

Probe = Callable[[], Awaitable[str | None]]
"""Asks one dependency; what is wrong with it, or None."""


class ReadinessCheck:
    def __init__(
        self,
        *,
        postgres: Probe,
        redis: Probe,
        fleet: Callable[[], Fleet],
        models: Callable[[], Sequence[Pool]],
        tokens: Callable[[], Agreement],
        stopping: asyncio.Event,
    ) -> None:
        self._postgres = postgres
        self._redis = redis
        self._fleet = fleet
        self._models = models
        self._tokens = tokens
        self._stopping = stopping

    async def __call__(self) -> Readiness:
        postgres, redis = await asyncio.gather(_asked(self._postgres), _asked(self._redis))
        tokens = self._tokens()
        checks = {
            "postgres": Check(ok=postgres is None, detail=postgres or "answers"),
            "redis": Check(ok=redis is None, detail=redis or "answers", needed=False),
            "replicas": replica_check(self._fleet()),
            "models": pools_check(self._models()),
            "tokens": Check(ok=tokens.ok, detail=tokens.detail, needed=False),
        }
        if self._stopping.is_set():
            checks["process"] = Check(ok=False, detail="this process is shutting down")
        return Readiness(checks)


async def _asked(probe: Probe) -> str | None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await probe()
    except TimeoutError:
        return f"no answer within {PATIENCE_S:g} s"


def pools_check(pools: Sequence[Pool]) -> Check:
    """Which of the served models nobody serves now."""
    away = [pool.model for pool in pools if not pool.present]
    if away:
        return Check(ok=False, detail=f"no replica takes sessions for {', '.join(away)}", needed=False)
    return Check(ok=True, detail=f"{len(pools)} of {len(pools)} have replicas", needed=False)


def replica_check(fleet: Fleet) -> Check:
    if not fleet.replicas:
        return Check(ok=False, detail="no replica is configured")
    reasons = [f"{r.id} is {r.health}: {r.reason}" if r.reason else f"{r.id} is {r.health}" for r in fleet.replicas]
    if fleet.ready:
        return Check(ok=True, detail=f"{len(fleet.ready)} of {len(fleet.replicas)} ready")
    return Check(ok=False, detail="; ".join(reasons))
