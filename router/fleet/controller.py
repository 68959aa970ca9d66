"""Looks after the pools, round after round: sees what is there, decides, and has it done."""

import asyncio
from collections.abc import Callable, Sequence

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.keeping import Around, Pool, PoolReport
from router.fleet.pool_keeper import PoolKeeper

LONGEST_ROUND_S = 120.0
"""A round that hangs is given up; wherever that is, the next one goes on from there."""

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class Controller:
    """It may be killed between any two steps; the next one goes on from what it finds."""

    def __init__(
        self,
        *,
        pools: Sequence[Pool],
        around: Around,
        clock: Callable[[], float],
        new_id: Callable[[PoolName], ReplicaId],
        dead_after_s: float = 60.0,
        told: Callable[[PoolReport], None] = lambda _: None,
    ) -> None:
        """`clock` tells seconds since the epoch; `told` hears of every pool's round, for logs and metrics."""
        self._clock = clock
        self._told = told
        self._keepers = {
            pool.name: PoolKeeper(pool=pool, around=around, new_id=new_id, dead_after_s=dead_after_s) for pool in pools
        }

    async def take_round(self, now: float) -> tuple[PoolReport, ...]:
        """One round of each pool, side by side. Never raises for what its surroundings do."""
        return tuple(await asyncio.gather(*(self._take(pool, now) for pool in self._keepers)))

    async def run(self, *, interval_s: float) -> None:
        """Never returns; one pool's trouble, or slowness, never holds up another's rounds."""
        async with asyncio.TaskGroup() as group:
            for pool in self._keepers:
                group.create_task(self._keep(pool, interval_s))

    async def _keep(self, pool: PoolName, interval_s: float) -> None:
        while True:
            await self._take(pool, self._clock())
            await asyncio.sleep(interval_s)

    async def _take(self, pool: PoolName, now: float) -> PoolReport:
        try:
            async with asyncio.timeout(LONGEST_ROUND_S):
                report = await self._keepers[pool].take(now)
        except TimeoutError:
            report = PoolReport(pool, leads=True, troubles=("its round took too long and was given up",))
        except Exception as error:  # noqa: BLE001  what is wrong with one pool must not end the rounds of all others
            _log.exception("a round of a pool failed", pool=pool)
            report = PoolReport(pool, leads=True, troubles=(f"{type(error).__name__}: see the log",))
        self._told(report)
        return report
