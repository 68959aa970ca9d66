"""Keeps the fleet's state true: follows the source of its members, and has each of them watched."""

import asyncio
from asyncio import Task, TaskGroup
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.fleet import ReplicaSpec
from router.errors import FleetSourceUnavailable
from router.fleet_state import FleetState
from router.ports import FleetSource, Probe
from router.replica_watch import ReplicaWatch, Surroundings, Ties
from router.settings import RouterSettings

_log: FilteringBoundLogger = structlog.get_logger(__name__)

_FIRST_ROUND_S = 8.0
_RETRY_FIRST_S = 0.5
_RETRY_LAST_S = 10.0


@dataclass(frozen=True, slots=True)
class SourceNumbers:
    """How it is with the list of replicas. `age_s`: for how long it could not be read; 0 while it can be."""

    failures: int
    age_s: float
    detail: str


class FleetUpkeep:
    def __init__(
        self,
        *,
        source: FleetSource,
        state: FleetState,
        probe: Probe,
        settings: RouterSettings,
        ties: Ties | None = None,
    ) -> None:
        self._state = state
        self._around = Surroundings(state=state, probe=probe, settings=settings, ties=ties or Ties())
        self._following = _Following(source, state)
        self._watches: dict[ReplicaSpec, ReplicaWatch] = {}

    @property
    def source_numbers(self) -> SourceNumbers:
        return self._following.numbers

    def rest(self) -> None:
        """Send no more canaries: this process is stopping."""
        self._around.is_resting = True

    async def first_round(self) -> None:
        """Read the source and look at every replica once, for no longer than a start may take.

        A source that cannot be read is no reason not to start: `source_numbers` says so.
        """
        await self._following.read()
        self._follow_members()
        try:
            async with asyncio.timeout(_FIRST_ROUND_S), TaskGroup() as group:
                for watch in self._watches.values():
                    group.create_task(watch.first_look())
        except TimeoutError:
            _log.warning("fleet not wholly known at the start", waited_s=_FIRST_ROUND_S)

    async def run(self) -> None:
        """Look after the fleet for ever, each replica in its own rhythm, so that a slow one delays no other."""
        running: dict[ReplicaSpec, Task[None]] = {}
        async with TaskGroup() as group:
            group.create_task(self._following.run())
            while True:
                self._follow_members()
                for gone in running.keys() - self._watches.keys():
                    running.pop(gone).cancel()
                for new in self._watches.keys() - running.keys():
                    running[new] = group.create_task(self._watches[new].run())
                await self._state.membership_changed()

    def _follow_members(self) -> None:
        members = _places(self._state.members)
        self._watches = {place: self._watches.get(place) or ReplicaWatch(place, self._around) for place in members}


def _places(specs: Iterable[ReplicaSpec]) -> list[ReplicaSpec]:
    """Whether a replica is closed makes no difference to how it is looked after."""
    return [ReplicaSpec(spec.id, spec.url, spec.models) for spec in specs]


class _Following:
    """The state's list of replicas, kept in step with the source; while that is away the last list goes on."""

    def __init__(self, source: FleetSource, state: FleetState) -> None:
        self._source = source
        self._state = state
        self._failures = 0
        self._lost_at: float | None = None
        self._detail = ""

    @property
    def numbers(self) -> SourceNumbers:
        age_s = 0.0 if self._lost_at is None else asyncio.get_running_loop().time() - self._lost_at
        return SourceNumbers(self._failures, age_s, self._detail)

    async def run(self) -> None:
        retry_s = _RETRY_FIRST_S
        while True:
            if await self.read():
                retry_s = _RETRY_FIRST_S
                await self._source.changed()
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(retry_s):
                        await self._source.changed()
                retry_s = min(2 * retry_s, _RETRY_LAST_S)

    async def read(self) -> bool:
        """Whether it could be read."""
        try:
            specs = await self._source.replicas()
        except FleetSourceUnavailable as error:
            self._failed(str(error))
            return False
        if self._lost_at is not None:
            _log.info("fleet source back", failures=self._failures)
        self._lost_at, self._detail = None, ""
        self._state.set_replicas(specs)
        return True

    def _failed(self, detail: str) -> None:
        self._failures += 1
        if self._lost_at is None:
            self._lost_at = asyncio.get_running_loop().time()
        if detail != self._detail:
            _log.warning("fleet source cannot be read; the last known replicas go on", detail=detail)
        self._detail = detail
