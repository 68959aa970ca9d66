"""Looks after the pools, round after round: sees what is there, decides, and has it done."""

from collections.abc import Callable, Sequence

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.keeping import Around, Pool, PoolReport


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

    async def take_round(self, now: float) -> tuple[PoolReport, ...]:
        """One round of each pool, side by side. Never raises for what its surroundings do."""
        raise NotImplementedError

    async def run(self, *, interval_s: float) -> None:
        """Never returns; one pool's trouble, or slowness, never holds up another's rounds."""
        raise NotImplementedError
