"""Workers that answer the questions of jobs beside everything else, and give way to trainees.

A worker holds each item under a lease that is renewed while it works, so that what a lost process had goes on
elsewhere. A result that cannot be written now is tried again as long as the lease holds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from structlog.typing import FilteringBoundLogger

from sessions.domain.job import (
    Answered,
    Claim,
    Doomed,
    GivenBack,
    ItemError,
    Outcome,
    Place,
    Refused,
    RetryRule,
    Troubled,
    WorkerId,
    verdict,
)
from sessions.errors import RecordsUnavailable
from sessions.fault_log import log_fault
from sessions.job_ports import JobQueue
from sessions.ports import Clock

_LOST = ItemError("given_up", "whoever generated this was lost in the middle, more than once")
_FAULT = ItemError("internal_error", "something went wrong here; it has been logged")
_LONGEST_PAUSE_S = 30.0

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerRules:
    at_once: int
    """Items that one process generates at the same time."""
    running_per_tenant: int
    lease_s: float
    poll_s: float
    """How often an idle worker looks, and how soon a cancelled item stops."""
    retry: RetryRule


@dataclass(slots=True)
class JobFigures:
    """What the workers of this process have done."""

    running: int = 0
    ended: dict[str, int] = field(default_factory=dict)
    """By the names of `OUTCOMES`."""
    pauses: int = 0
    """How often they stood back, for trainees or for want of a replica."""
    faults: int = 0

    def count(self, outcome: str) -> None:
        self.ended[outcome] = self.ended.get(outcome, 0) + 1


_NAMES: Mapping[type[Outcome], str] = {
    Answered: "answered",
    Refused: "refused",
    Doomed: "doomed",
    Troubled: "troubled",
    GivenBack: "given_back",
}
_STOPPED, _OVERTAKEN = "stopped", "overtaken"
OUTCOMES = (*_NAMES.values(), _STOPPED, _OVERTAKEN)


class JobWorkers:
    """Run it once; `stop` lets it end: what is under way is given back at once, for others to begin anew."""

    def __init__(
        self,
        *,
        owner: WorkerId,
        queue: JobQueue,
        generate: Callable[[Claim], Awaitable[Outcome]],
        clock: Clock,
        rules: WorkerRules,
    ) -> None:
        self._owner = owner
        self._queue = queue
        self._generate = generate
        self._clock = clock
        self._rules = rules
        self._scopes: dict[Place, asyncio.Timeout] = {}
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._back_at = 0.0
        self._pause_s = 0.0
        self.figures = JobFigures()

    def stop(self) -> None:
        self._stopping.set()
        for place in list(self._scopes):
            self._cut(place)

    async def run(self) -> None:
        """Until it is stopped; no fault of one item ends it."""
        try:
            async with asyncio.TaskGroup() as group:
                keeper = group.create_task(self._keep())
                async with asyncio.TaskGroup() as workers:
                    for _ in range(self._rules.at_once):
                        workers.create_task(self._work())
                keeper.cancel()
        finally:
            self._ended.set()

    async def ended(self, *, within_s: float) -> None:
        """Once everything has been given back, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._ended.wait()

    async def _work(self) -> None:
        while not self._stopping.is_set():
            if not await self._sound(self._take_one):
                await self._idle()

    async def _take_one(self) -> bool:
        """Whether there was an item to work on."""
        claim = await self._claim() if self._clock.ticks() >= self._back_at else None
        if claim is not None:
            await self._settle(claim, await self._outcome(claim))
        return claim is not None

    async def _sound(self, step: Callable[[], Awaitable[bool]]) -> bool:
        """What the step says; False where it met a fault, which must not end the process that serves trainees too."""
        try:
            return await step()
        except Exception as error:  # noqa: BLE001
            log_fault("the work on jobs met a fault", error)
            self.figures.faults += 1
            return False

    async def _claim(self) -> Claim | None:
        now = self._clock.now()
        try:
            return await self._queue.claim(
                self._owner, at=now, until=now + self._lease, running=self._rules.running_per_tenant
            )
        except RecordsUnavailable:
            return None

    async def _outcome(self, claim: Claim) -> Outcome | None:
        """None: it is no longer ours."""
        if claim.attempt > self._rules.retry.attempts:
            return Refused(_LOST)
        self.figures.running += 1
        try:
            return await self._cuttable(claim)
        except RecordsUnavailable:
            return GivenBack()
        except Exception:  # noqa: BLE001  one item's fault must not end the work on all others
            _log.exception("an item of a job failed", job=str(claim.place.job), number=claim.place.number)
            return Troubled(_FAULT)
        finally:
            self.figures.running -= 1

    async def _cuttable(self, claim: Claim) -> Outcome | None:
        scope = asyncio.timeout(None)
        try:
            async with scope:
                if self._stopping.is_set():  # while the claim was on its way
                    return GivenBack()
                self._scopes[claim.place] = scope
                return await self._generate(claim)
        except TimeoutError:
            if not scope.expired():
                raise
            return GivenBack() if self._stopping.is_set() else None
        finally:
            if self._scopes.get(claim.place) is scope:
                del self._scopes[claim.place]

    def _cut(self, place: Place) -> None:
        """End the generation now, down to the engine."""
        self._scopes.pop(place).reschedule(0.0)

    async def _settle(self, claim: Claim, outcome: Outcome | None) -> None:
        self._give_way(outcome)
        if outcome is None:
            self.figures.count(_STOPPED)
            return
        written = await self._written(claim, outcome)
        self.figures.count(_NAMES[type(outcome)] if written else _OVERTAKEN)

    async def _written(self, claim: Claim, outcome: Outcome) -> bool:
        lasts_until = self._clock.ticks() + self._rules.lease_s
        while self._clock.ticks() < lasts_until:
            now = self._clock.now()
            try:
                return await self._queue.settle(claim, verdict(outcome, claim, self._rules.retry, at=now), at=now)
            except RecordsUnavailable:
                await asyncio.sleep(self._rules.poll_s)
        return False  # whoever takes over begins anew

    def _give_way(self, outcome: Outcome | None) -> None:
        """Where trainees need all the room, or no replica is there, every worker of this process stands back, longer
        each time."""
        if isinstance(outcome, GivenBack | Troubled) and outcome.pause_s:
            now = self._clock.ticks()
            if now >= self._back_at:  # several workers meet the same
                self._pause_s = min(max(2 * self._pause_s, outcome.pause_s), _LONGEST_PAUSE_S)
                self._back_at = now + self._pause_s
                self.figures.pauses += 1
        elif isinstance(outcome, Answered):
            self._pause_s = 0.0

    async def _keep(self) -> None:
        """Renews the leases, and stops what is no longer ours: cancelled, or taken over by another."""
        while True:
            await asyncio.sleep(self._rules.poll_s)
            await self._sound(self._renew)

    async def _renew(self) -> bool:
        """Whether anything was renewed."""
        if not (ours := dict(self._scopes)):
            return False
        try:
            held = await self._queue.renew(self._owner, list(ours), until=self._clock.now() + self._lease)
        except RecordsUnavailable:
            return False
        for place, scope in ours.items():
            if place not in held and self._scopes.get(place) is scope:
                self._cut(place)
        return True

    async def _idle(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._rules.poll_s):
                await self._stopping.wait()

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self._rules.lease_s)
