"""Ends the wait for whole answers of replicas that were lost without a word."""

import asyncio
import time
from collections.abc import Callable, Mapping

from router.domain.absence import absent_since, given_up
from router.domain.fleet import ReplicaId
from router.ports import Engine, FleetView
from router.settings import RouterSettings

_ROUND_S = 1.0


class LostAnswers:
    """One for all turns: a turn that waits costs nothing here."""

    def __init__(
        self,
        *,
        fleet: FleetView,
        engine: Engine,
        settings: RouterSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fleet = fleet
        self._engine = engine
        self._after_s = settings.lost_after_s
        self._clock = clock
        self._since: Mapping[ReplicaId, float] = {}

    async def run(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(min(_ROUND_S, self._after_s / 5))

    def look(self) -> None:
        fleet, now = self._fleet.current(), self._clock()
        self._since = absent_since(self._since, fleet, now=now)
        if self._since:
            for replica in given_up(self._since, fleet, now=now, after_s=self._after_s):
                self._engine.give_up(replica, waited_s=self._after_s)
