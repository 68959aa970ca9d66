"""What a worker does with what becomes of its items, on jobs in memory and a clock that is told the time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from typing_extensions import override

from gateway.job_workers import OUTCOMES, JobWorkers, WorkerRules
from sessions.adapters.memory_jobs import MemoryJobs
from sessions.domain.job import (
    Again,
    Answer,
    Answered,
    Claim,
    Doomed,
    Ended,
    GivenBack,
    Item,
    ItemError,
    ItemState,
    Job,
    JobState,
    Outcome,
    Place,
    RetryRule,
    Troubled,
    WorkerId,
)
from sessions.errors import RecordsUnavailable
from tests.support.eventually import eventually
from tests.support.jobs_fixture import job, questions
from tests.support.records_world import HERE
from tests.support.session_fakes import FakeClock

ERROR = ItemError("tutor_broke", "it broke")
ANSWERED = Answered(Answer("So.", "stop"))
Generate = Callable[[Claim], Awaitable[Outcome]]


class AwayJobs(MemoryJobs):
    """Whose database can go away."""

    away = False
    faulty = False

    @override
    async def claim(self, owner: WorkerId, *, at: datetime, until: datetime, running: int) -> Claim | None:
        self._look()
        return await super().claim(owner, at=at, until=until, running=running)

    @override
    async def settle(self, claim: Claim, what: Again | Ended, *, at: datetime) -> bool:
        self._look()
        return await super().settle(claim, what, at=at)

    @override
    async def renew(self, owner: WorkerId, places: Sequence[Place], *, until: datetime) -> Sequence[Place]:
        self._look()
        return await super().renew(owner, places, until=until)

    def _look(self) -> None:
        if self.away:
            raise RecordsUnavailable("no database")
        if self.faulty:
            raise LookupError("nobody has thought of this")


@dataclass
class Shop:
    jobs: AwayJobs
    workers: JobWorkers
    clock: FakeClock
    job: Job
    seen: list[Claim] = field(default_factory=list)

    async def items(self) -> list[Item]:
        return list(await self.jobs.questions(HERE.tenant, self.job.id, limit=100))

    async def state(self) -> JobState:
        found = await self.jobs.get(HERE.tenant, self.job.id)
        assert found is not None
        return found.state

    async def until(self, state: JobState) -> None:
        async with asyncio.timeout(5):
            while await self.state() is not state:  # noqa: ASYNC110  there is no event to wait for
                await asyncio.sleep(0.001)


@asynccontextmanager
async def working(generate: Generate, *, count: int = 3, at_once: int = 2, attempts: int = 3) -> AsyncIterator[Shop]:
    jobs, clock = AwayJobs(), FakeClock()
    clock.advance(10**8)  # later than the job was made
    added = await jobs.add(job(), questions(count), None, limit=1)
    seen: list[Claim] = []

    async def looked(claim: Claim) -> Outcome:
        seen.append(claim)
        return await generate(claim)

    workers = JobWorkers(
        owner=WorkerId("w"),
        queue=jobs,
        generate=looked,
        clock=clock,
        rules=WorkerRules(
            at_once=at_once,
            running_per_tenant=9,
            lease_s=30,
            poll_s=0.002,
            retry=RetryRule(attempts=attempts, pause_s=0.0001),
        ),
    )
    running = asyncio.create_task(workers.run())
    try:
        yield Shop(jobs, workers, clock, added, seen)
    finally:
        workers.stop()
        await workers.ended(within_s=5)
        await running


async def answer(_: Claim) -> Outcome:
    return ANSWERED


async def test_every_question_is_answered_once() -> None:
    async with working(answer, count=9) as shop:
        await shop.until(JobState.COMPLETED)
        assert [item.state for item in await shop.items()] == [ItemState.COMPLETED] * 9
        assert len(shop.seen) == 9
        assert shop.workers.figures.ended == {"answered": 9}
        assert shop.workers.figures.running == 0


async def test_no_more_run_at_once_than_there_are_workers() -> None:
    most = 0

    async def generate(_: Claim) -> Outcome:
        nonlocal most
        most = max(most, shop.workers.figures.running)
        await asyncio.sleep(0)
        return ANSWERED

    async with working(generate, count=9, at_once=3) as shop:
        await shop.until(JobState.COMPLETED)
    assert most == 3


async def test_without_workers_nothing_is_done() -> None:
    async with working(answer, at_once=0) as shop:
        await shop.workers.ended(within_s=5)
        assert not shop.seen
        assert await shop.state() is JobState.QUEUED


async def test_trouble_is_tried_again_until_it_is_enough() -> None:
    async def generate(claim: Claim) -> Outcome:
        return Troubled(ERROR) if claim.place.number == 1 else ANSWERED

    async with working(generate) as shop:
        await shop.until(JobState.COMPLETED)
        first, *others = await shop.items()
        assert (first.state, first.error, first.attempts) == (ItemState.FAILED, ERROR, 3)
        assert {item.state for item in others} == {ItemState.COMPLETED}


async def test_a_fault_of_ours_fails_its_question_alone() -> None:
    async def generate(claim: Claim) -> Outcome:
        if claim.place.number == 1:
            raise ZeroDivisionError
        return ANSWERED

    async with working(generate) as shop:
        await shop.until(JobState.COMPLETED)
        first, *others = await shop.items()
        assert first.error is not None
        assert first.error.code == "internal_error"
        assert {item.state for item in others} == {ItemState.COMPLETED}


async def test_a_time_out_of_somebody_elses_is_a_fault_too() -> None:
    async def generate(_: Claim) -> Outcome:
        raise TimeoutError

    async with working(generate, count=1) as shop:
        await shop.until(JobState.COMPLETED)
        assert (await shop.items())[0].error is not None


async def test_what_killed_its_workers_too_often_is_given_up() -> None:
    async with working(answer, at_once=0) as idle:
        pass
    jobs, clock = idle.jobs, idle.clock
    for _ in range(3):
        lost = await jobs.claim(WorkerId("lost"), at=clock.now(), until=clock.now(), running=9)
        assert lost is not None
        assert lost.place.number == 1
    workers = JobWorkers(
        owner=WorkerId("w"),
        queue=jobs,
        generate=answer,
        clock=clock,
        rules=WorkerRules(1, 9, 30, 0.002, RetryRule(3, 0.001)),
    )
    running = asyncio.create_task(workers.run())
    await idle.until(JobState.COMPLETED)
    workers.stop()
    await running
    first, *others = await idle.items()
    assert first.error is not None
    assert first.error.code == "given_up"
    assert {item.state for item in others} == {ItemState.COMPLETED}


async def test_a_job_that_cannot_go_on_ends_at_once() -> None:
    async def generate(_: Claim) -> Outcome:
        return Doomed(ERROR)

    async with working(generate, at_once=1) as shop:
        await shop.until(JobState.FAILED)
        assert len(shop.seen) == 1
        assert shop.workers.figures.ended == {"doomed": 1}


async def test_where_trainees_need_the_room_every_worker_stands_back_longer_each_time() -> None:
    outcomes: list[Outcome] = [GivenBack(4.0), GivenBack(4.0), ANSWERED, GivenBack(4.0)]
    pauses: list[float] = []

    async def generate(_: Claim) -> Outcome:
        return outcomes.pop(0) if outcomes else ANSWERED

    async with working(generate, at_once=1) as shop:
        for count in (1, 2):
            await eventually(lambda count=count: shop.workers.figures.pauses == count)  # type: ignore[misc]
            begun = len(shop.seen)
            pauses.append(shop.workers._pause_s)
            shop.clock.advance(pauses[-1] - 1)
            for _ in range(50):
                await asyncio.sleep(0)
            assert len(shop.seen) == begun
            shop.clock.advance(2)
        await eventually(lambda: shop.workers.figures.pauses == 3)
        pauses.append(shop.workers._pause_s)
        shop.clock.advance(60)
        await shop.until(JobState.COMPLETED)
        assert {item.attempts for item in await shop.items()} == {1}
    assert pauses == [4.0, 8.0, 4.0]


async def test_the_pause_is_bounded() -> None:
    async def generate(_: Claim) -> Outcome:
        return GivenBack(20.0)

    async with working(generate, at_once=1) as shop:
        for count in range(1, 5):
            await eventually(lambda count=count: shop.workers.figures.pauses == count)  # type: ignore[misc]
            shop.clock.advance(31)
        assert shop.workers._pause_s == 30.0


async def test_a_cancelled_job_stops_what_is_being_generated() -> None:
    stopped = asyncio.Event()

    async def generate(_: Claim) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ANSWERED

    async with working(generate, count=1) as shop:
        await eventually(lambda: bool(shop.seen))
        await shop.jobs.cancel(HERE.tenant, shop.job.id, at=shop.clock.now())
        async with asyncio.timeout(5):
            await stopped.wait()
        await eventually(lambda: shop.workers.figures.ended == {"stopped": 1})


async def test_a_worker_that_stops_gives_back_what_it_has() -> None:
    async def generate(_: Claim) -> Outcome:
        await asyncio.Event().wait()
        return ANSWERED

    async with working(generate, count=2) as shop:
        await eventually(lambda: len(shop.seen) == 2)
    items = await shop.items()
    assert [(item.state, item.attempts) for item in items] == [(ItemState.QUEUED, 0)] * 2
    assert shop.workers.figures.ended == {"given_back": 2}


async def test_leases_are_renewed_while_it_works() -> None:
    done = asyncio.Event()

    async def generate(_: Claim) -> Outcome:
        await done.wait()
        return ANSWERED

    async with working(generate, count=1, at_once=2) as shop:
        await eventually(lambda: bool(shop.seen))
        for _ in range(4):
            shop.clock.advance(20)
            renewed = shop.clock.now()
            place = shop.seen[0].place
            row = shop.jobs._jobs[place.job].rows[place.layer, place.number]
            await eventually(lambda row=row, at=renewed: row.until is not None and row.until > at)  # type: ignore[misc]
        done.set()
        await shop.until(JobState.COMPLETED)
        assert len(shop.seen) == 1


async def test_a_database_that_is_away_is_waited_for_and_the_result_is_written_then() -> None:
    async def generate(_: Claim) -> Outcome:
        shop.jobs.away = True
        return ANSWERED

    async with working(generate, count=1) as shop:
        await eventually(lambda: shop.jobs.away and not shop.workers.figures.running)
        await asyncio.sleep(0.01)
        assert not shop.workers.figures.ended
        shop.jobs.away = False
        await shop.until(JobState.COMPLETED)
        assert (len(shop.seen), shop.workers.figures.ended) == (1, {"answered": 1})


async def test_a_fault_of_the_work_itself_ends_nothing() -> None:
    async def generate(_: Claim) -> Outcome:
        await begun.wait()
        return ANSWERED

    begun = asyncio.Event()
    async with working(generate, count=3, at_once=1) as shop:
        await eventually(lambda: bool(shop.seen))
        shop.jobs.faulty = True
        faults = shop.workers.figures.faults
        await eventually(lambda: shop.workers.figures.faults > faults)  # the leases could not be renewed
        begun.set()
        await eventually(lambda: shop.workers.figures.running == 0)
        shop.jobs.faulty = False
        shop.clock.advance(31)  # the item whose result was lost is free again
        await shop.until(JobState.COMPLETED)


async def test_a_result_that_cannot_be_written_while_the_lease_holds_is_dropped() -> None:
    async def generate(_: Claim) -> Outcome:
        shop.jobs.away = True
        return ANSWERED

    async with working(generate, count=1, at_once=1) as shop:
        await eventually(lambda: shop.jobs.away and not shop.workers.figures.running)
        shop.clock.advance(31)
        await eventually(lambda: shop.workers.figures.ended == {"overtaken": 1})
        shop.jobs.away = False


async def test_records_that_are_lost_in_the_middle_cost_no_attempt() -> None:
    tries = 0

    async def generate(_: Claim) -> Outcome:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise RecordsUnavailable("no database")
        return ANSWERED

    async with working(generate, count=1) as shop:
        await shop.until(JobState.COMPLETED)
        assert (await shop.items())[0].attempts == 1


def test_every_outcome_has_a_name() -> None:
    assert OUTCOMES == ("answered", "refused", "doomed", "troubled", "given_back", "stopped", "overtaken")
