"""Warms replicas up over HTTP, each by a task of its own, and goes on asking those that serve for a token.

A replica is warm once it answers, lists its model, says what its pool says to a fixed question, and has computed what
the prompts of the coming classes begin with. What it may do meanwhile, such as hang or answer rubbish, keeps it where
it is, with a reason; how long that may go on is for the controller to say.
"""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from types import TracebackType
from typing import Final, Self

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.engine_chat import EngineChat, NotNow, Refused
from router.fleet.adapters.warm_up import Measured, NotThePools, WarmthTimes, WarmUp, digest_of
from router.fleet.domain.replica_record import Milestone, WarmReport
from router.fleet.domain.warmth import Prefix, Unfit, Warm, Warming, WarmLook
from router.fleet.errors import LedgerUnavailable
from router.fleet.ports import Canaries, Warmth

_PREFIX_TRIES: Final = 2
_ORDER: Final = tuple(Milestone)

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class _Job:
    replica: ReplicaSpec
    prefixes: Sequence[Prefix]
    began_at: float
    looked_at: float
    look: WarmLook = field(default_factory=Warming)
    reached: Milestone | None = None
    failed: dict[str, int] = field(default_factory=dict)
    """How often each prefix was tried in vain."""
    task: asyncio.Task[None] | None = None

    def reach(self, milestone: Milestone) -> None:
        """A step taken again leads no further back."""
        if self.reached is None or _ORDER.index(self.reached) < _ORDER.index(milestone):
            self.reached = milestone
        self.look = Warming(self.reached)

    def wait(self, detail: str) -> None:
        self.look = Warming(self.reached, detail)


@dataclass(slots=True, eq=False)
class _Watch:
    replica: ReplicaSpec
    looked_at: float
    answers: bool | None = None
    task: asyncio.Task[None] | None = None


class HttpWarmth(Warmth):
    """Works while it is entered. The replicas of every pool may be given to it; a pool is named as its model."""

    def __init__(self, *, chat: EngineChat, canaries: Canaries, times: WarmthTimes | None = None) -> None:
        self._times = times or WarmthTimes()
        self._steps = WarmUp(chat=chat, canaries=canaries, times=self._times)
        self._group = asyncio.TaskGroup()
        self._jobs: dict[ReplicaId, _Job] = {}
        self._watches: dict[ReplicaId, _Watch] = {}

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for replica in {*self._jobs, *self._watches}:
            await self.forget(replica)
        await self._group.__aexit__(kind, error, trace)

    @override
    async def look(self, replica: ReplicaSpec, prefixes: Sequence[Prefix]) -> WarmLook:
        job, now = self._jobs.get(replica.id), monotonic()
        if job is None or job.replica.url != replica.url:
            _cancel(job)
            job = self._jobs[replica.id] = _Job(replica, prefixes, began_at=now, looked_at=now)
            job.task = self._group.create_task(self._warm(job), name=f"warm {replica.id}")
        job.prefixes, job.looked_at = prefixes, now
        return job.look

    @override
    async def still_answers(self, replica: ReplicaSpec) -> bool | None:
        watch, now = self._watches.get(replica.id), monotonic()
        if watch is None or watch.replica.url != replica.url:
            _cancel(watch)
            watch = self._watches[replica.id] = _Watch(replica, looked_at=now)
            watch.task = self._group.create_task(self._keep_asking(watch), name=f"watch {replica.id}")
        watch.looked_at = now
        return watch.answers

    @override
    async def forget(self, replica: ReplicaId) -> None:
        _cancel(self._jobs.pop(replica, None))
        _cancel(self._watches.pop(replica, None))

    async def _warm(self, job: _Job) -> None:
        while isinstance(job.look, Warming) and self._is_wanted(job):
            try:
                job.look = Warm(await self._warmed(job))
            except NotThePools as error:
                job.look = Unfit(str(error))
            except NotNow as error:
                job.wait(str(error))
                await asyncio.sleep(self._times.again_s)
            except LedgerUnavailable as error:
                job.wait(f"its canary cannot be judged: {error}")
                await asyncio.sleep(self._times.again_s)
        if isinstance(job.look, Warming):
            self._jobs.pop(job.replica.id)

    async def _warmed(self, job: _Job) -> WarmReport:
        await self._steps.answers(job.replica)
        job.reach(Milestone.HEALTHY)
        salt = secrets.token_hex(8)
        canary = await self._steps.canary(job.replica, salt=salt)
        job.reach(Milestone.CANARY_RIGHT)
        computed = [measured for prefix in job.prefixes if (measured := await self._computed(job, prefix))]
        job.reach(Milestone.PREFIXES_WARM)
        # Without a class ahead there is no better measure than the canary's own question.
        chats = computed or [Measured(canary, await self._steps.canary_again(job.replica, salt=salt))]
        return WarmReport(
            canary=digest_of(canary),
            first_token_cold_ms=1000 * max(chat.cold.first_token_s for chat in chats),
            first_token_warm_ms=1000 * max(chat.warm.first_token_s for chat in chats),
            prefixes=len(computed),
            took_s=monotonic() - job.began_at,
        )

    async def _computed(self, job: _Job, prefix: Prefix) -> Measured | None:
        """None where it goes on without: a class is better served cold than not at all."""
        if job.failed.get(prefix.name, 0) >= _PREFIX_TRIES:
            return None
        note = _log.bind(replica=job.replica.id, prefix=prefix.name)
        try:
            measured = await self._steps.compute(job.replica, prefix)
        except Refused as error:
            note.warning("a prefix was refused", status=error.status)
            return None
        except NotNow:
            job.failed[prefix.name] = job.failed.get(prefix.name, 0) + 1
            note.warning("a prefix could not be computed", tries=job.failed[prefix.name])
            raise
        if not measured.warm.cached_tokens:
            note.warning("a prefix was computed and is not cached", cached_tokens=measured.warm.cached_tokens)
        return measured

    async def _keep_asking(self, watch: _Watch) -> None:
        """What cannot be told now stays as it was."""
        while self._is_wanted(watch):
            told = await self._steps.generates(watch.replica)
            watch.answers = watch.answers if told is None else told
            await asyncio.sleep(self._times.alive_every_s)
        self._watches.pop(watch.replica.id)

    def _is_wanted(self, work: _Job | _Watch) -> bool:
        return monotonic() - work.looked_at < self._times.forgotten_s


def _cancel(work: _Job | _Watch | None) -> None:
    if work is not None and work.task is not None:
        work.task.cancel()
