"""Sends prewarms: few at a time for each replica, the latest of a session only, none once the trainee is back.

A prewarm is no turn: it is not counted as one, opens no breaker, and its failure is nobody's but its own.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

from router.domain.engine_priority import PREWARM, prioritised
from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, Replica, ReplicaId
from router.domain.prewarm import allowed_at_once, prewarm_call
from router.errors import EngineError
from router.load_book import LoadBook, Reservation
from router.ports import Engine
from router.settings import RouterSettings
from router.tally import PrewarmOutcome, Tally

# Each holds a prompt. A session that has to wait behind so many will hardly be warm in time.
_WAITING: Final = 256
_WAITING_BYTES: Final = 16 << 20
_BYTES_PER_TOKEN: Final = 4


@dataclass(slots=True, eq=False)
class _Job:
    key: AffinityKey
    replica: Replica
    call: Call
    outcome: asyncio.Future[PrewarmOutcome]
    task: asyncio.Task[PrewarmOutcome] | None = None
    place: Reservation | None = None


class Prewarming:
    """Keys are those of the pin store. Nothing is sent unless `run` runs, which owns the requests."""

    def __init__(self, *, engine: Engine, load: LoadBook, settings: RouterSettings, tally: Tally) -> None:
        self._engine = engine
        self._load = load
        self._share = settings.prewarm_share
        self._priority = PREWARM if settings.engine_priority else 0
        self._timeout_s = settings.first_byte_timeout_s
        self._tally = tally
        self._group: asyncio.TaskGroup | None = None
        self._jobs: dict[AffinityKey, _Job] = {}
        self._running: Counter[ReplicaId] = Counter()
        self._waiting: dict[ReplicaId, dict[AffinityKey, _Job]] = {}
        self._waiting_bytes = 0

    @property
    def is_on(self) -> bool:
        return self._share > 0

    async def run(self) -> None:
        """Never returns; when cancelled nothing stays open."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._group = None
                for key in tuple(self._jobs):
                    self.drop(key)

    def start(self, key: AffinityKey, replica: Replica, call: Call) -> None:
        """Have the prompt computed there when its turn comes; an earlier prewarm of the session is dropped."""
        self._schedule(key, replica, call)

    async def warmed(self, key: AffinityKey, replica: Replica, call: Call) -> PrewarmOutcome:
        """As `start`, and return how it ended; dropped when cancelled."""
        job = self._schedule(key, replica, call)
        try:
            return await job.outcome
        finally:
            if not job.outcome.done() or job.outcome.cancelled():
                self._drop(job)

    def drop(self, key: AffinityKey) -> None:
        """The trainee is back, or the session has ended: cut it off."""
        job = self._jobs.get(key)
        if job is not None:
            self._drop(job)

    def _schedule(self, key: AffinityKey, replica: Replica, call: Call) -> _Job:
        self.drop(key)
        job = _Job(key, replica, call, asyncio.get_running_loop().create_future())
        if self._group is None or not self.is_on or replica.is_draining:
            self._finish(job, PrewarmOutcome.NO_ROOM)
            return job
        self._jobs[key] = job
        self._waiting.setdefault(replica.id, {})[key] = job
        self._waiting_bytes += len(call.body)
        self._start_next(replica.id)
        self._skip_surplus()
        return job

    def _start_next(self, replica: ReplicaId) -> None:
        waiting = self._waiting.get(replica, {})
        while waiting and self._running[replica] < self._allowed(replica):
            job = next(iter(waiting.values()))
            self._take_from_line(job)
            if self._group is None or replica in self._load.full:
                self._finish(job, PrewarmOutcome.NO_ROOM)
                continue
            self._running[replica] += 1
            job.place = self._load.reserve(replica, len(job.call.body) // _BYTES_PER_TOKEN + 1)
            job.task = self._group.create_task(self._sent(job))
            job.task.add_done_callback(partial(self._ended, job))

    def _allowed(self, replica: ReplicaId) -> int:
        turns = self._load.own().get(replica, 0) - self._running[replica]
        return allowed_at_once(turns, self._share)

    async def _sent(self, job: _Job) -> PrewarmOutcome:
        try:
            # Its first token is all there is; the engine would allow a whole answer the time of a long reply.
            async with asyncio.timeout(self._timeout_s):
                await self._ask(job)
        except (EngineError, TimeoutError, ValueError):
            return PrewarmOutcome.FAILED
        return PrewarmOutcome.DONE

    async def _ask(self, job: _Job) -> None:
        answer = await self._engine.open(job.replica, prioritised(prewarm_call(job.call), self._priority))
        try:
            while await answer.read():
                pass
        finally:
            answer.close()

    def _ended(self, job: _Job, task: asyncio.Task[PrewarmOutcome]) -> None:
        # Here and not in the task, which is never begun when it is cancelled at once.
        if job.place is not None:
            job.place.release()
        self._running[job.replica.id] -= 1
        if not self._running[job.replica.id]:
            del self._running[job.replica.id]
        if task.cancelled() or task.exception() is not None:
            self._finish(job, PrewarmOutcome.DROPPED)
        else:
            self._finish(job, task.result())
        self._start_next(job.replica.id)

    def _drop(self, job: _Job) -> None:
        if job.task is not None:
            # It is forgotten at once, so that a later one of the session is not taken for it.
            self._forget(job)
            job.task.cancel()
        else:
            self._take_from_line(job)
            self._finish(job, PrewarmOutcome.DROPPED)

    def _finish(self, job: _Job, outcome: PrewarmOutcome) -> None:
        self._forget(job)
        self._tally.prewarmed(outcome)
        if not job.outcome.done():
            job.outcome.set_result(outcome)

    def _forget(self, job: _Job) -> None:
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]

    def _take_from_line(self, job: _Job) -> None:
        waiting = self._waiting.get(job.replica.id, {})
        if waiting.pop(job.key, None) is not None:
            self._waiting_bytes -= len(job.call.body)
            if not waiting:
                del self._waiting[job.replica.id]

    def _skip_surplus(self) -> None:
        waiting = [job for job in self._jobs.values() if job.task is None]
        surplus = max(0, len(waiting) - _WAITING)
        while surplus or self._waiting_bytes > _WAITING_BYTES:
            job = waiting.pop(0)
            surplus = max(0, surplus - 1)
            self._take_from_line(job)
            self._finish(job, PrewarmOutcome.NO_ROOM)
