"""What a tenant sees of its jobs, in memory and on Postgres."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from sessions.domain.citation import DocumentId
from sessions.domain.job import Answer, Ended, ItemError, ItemState, JobId, JobState, LayerCount
from sessions.domain.turn import IdempotencyKey
from sessions.errors import IdempotencyKeyReused, TooManyJobs
from tests.support.jobs_fixture import ANNE, Jobs, job, questions, summaries
from tests.support.records_world import ELSEWHERE, HERE, NOON, uuid_of

LATER = NOON + timedelta(seconds=5)
KEY = IdempotencyKey("key", "digest")


async def test_a_job_is_kept_as_it_was_added(jobs: Jobs) -> None:
    wanted = replace(job(), document=DocumentId(uuid_of("document")))
    added = await jobs.add(wanted, [*summaries(2), *questions(3, layer=2)])
    assert added == replace(wanted, layers=(LayerCount(1, 2), LayerCount(2, 3)))
    assert await jobs.book.get(HERE.tenant, wanted.id) == added
    assert added.state is JobState.QUEUED
    assert added.questions == LayerCount(2, 3)


async def test_its_questions_come_in_pages(jobs: Jobs) -> None:
    added = await jobs.add(job(), [*summaries(2), *questions(5, layer=2)])
    first = await jobs.book.questions(HERE.tenant, added.id, limit=2)
    rest = await jobs.book.questions(HERE.tenant, added.id, limit=9, after=2)
    assert [item.plan for item in (*first, *rest)] == questions(5, layer=2)
    assert {item.state for item in first} == {ItemState.QUEUED}


async def test_another_tenant_sees_nothing(jobs: Jobs) -> None:
    added = await jobs.add(job(), questions(1))
    assert await jobs.book.get(ELSEWHERE.tenant, added.id) is None
    assert (await jobs.book.list(ELSEWHERE.tenant, limit=10)).items == ()
    assert await jobs.book.questions(ELSEWHERE.tenant, added.id, limit=10) == []
    assert await jobs.book.cancel(ELSEWHERE.tenant, added.id, at=LATER) is None
    assert await jobs.book.get(HERE.tenant, added.id) == added


async def test_a_job_that_nobody_added_is_none(jobs: Jobs) -> None:
    assert await jobs.book.get(HERE.tenant, JobId(uuid4())) is None
    assert await jobs.book.cancel(HERE.tenant, JobId(uuid4()), at=LATER) is None


async def test_the_list_begins_with_the_newest(jobs: Jobs) -> None:
    added = [await jobs.add(job(f"job {minute}", minutes=minute), questions(1 + minute)) for minute in range(3)]
    first = await jobs.book.list(HERE.tenant, limit=2)
    rest = await jobs.book.list(HERE.tenant, limit=2, after=first.next)
    assert [*first.items, *rest.items] == added[::-1]
    assert rest.next is None


async def test_the_same_key_asks_for_the_same_job(jobs: Jobs) -> None:
    first = await jobs.book.add(job(), questions(2), KEY, limit=1)
    again = await jobs.book.add(job("another"), questions(2), KEY, limit=1)
    assert again == first
    with pytest.raises(IdempotencyKeyReused):
        await jobs.book.add(job("third"), questions(2), IdempotencyKey("key", "other"), limit=1)
    assert len((await jobs.book.list(HERE.tenant, limit=10)).items) == 1


async def test_what_was_asked_for_before_is_found_by_its_key(jobs: Jobs) -> None:
    first = await jobs.book.add(job(), questions(2), KEY, limit=9)
    assert await jobs.book.earlier(HERE.tenant, HERE.instructor, KEY) == first
    with pytest.raises(IdempotencyKeyReused):
        await jobs.book.earlier(HERE.tenant, HERE.instructor, IdempotencyKey("key", "another digest"))
    for tenant, account, key in (
        (HERE.tenant, HERE.instructor, IdempotencyKey("another key", "digest")),
        (HERE.tenant, HERE.trainee, KEY),
        (ELSEWHERE.tenant, HERE.instructor, KEY),
    ):
        assert await jobs.book.earlier(tenant, account, key) is None


async def test_a_key_is_its_accounts_own(jobs: Jobs) -> None:
    first = await jobs.book.add(job(), questions(1), KEY, limit=9)
    other = replace(job("another"), created_by=HERE.trainee)
    assert (await jobs.book.add(other, questions(1), KEY, limit=9)).id != first.id


async def test_a_tenant_has_only_so_many_jobs_that_are_not_over(jobs: Jobs) -> None:
    first = await jobs.book.add(job(), questions(1), None, limit=1)
    with pytest.raises(TooManyJobs) as refused:
        await jobs.book.add(job("another"), questions(1), None, limit=1)
    assert refused.value.limit == 1
    await jobs.book.add(job("theirs", ELSEWHERE), questions(1), None, limit=1)
    await jobs.book.cancel(HERE.tenant, first.id, at=LATER)
    await jobs.book.add(job("another"), questions(1), None, limit=1)


async def test_of_many_who_add_at_once_only_so_many_may(jobs: Jobs) -> None:
    tries = [jobs.book.add(job(f"job {count}"), questions(1), None, limit=3) for count in range(8)]
    ended = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(each, TooManyJobs) for each in ended) == 5
    assert len((await jobs.book.list(HERE.tenant, limit=10)).items) == 3


async def test_of_many_who_add_under_one_key_one_does(jobs: Jobs) -> None:
    tries = [jobs.book.add(job(f"job {count}"), questions(1), KEY, limit=9) for count in range(8)]
    assert len({each.id for each in await asyncio.gather(*tries)}) == 1


async def test_cancelling_ends_all_that_is_open(jobs: Jobs) -> None:
    added = await jobs.add(job(), questions(3))
    answered, running = await jobs.claimed(), await jobs.claimed()
    await jobs.queue.settle(answered, Ended(answer=Answer("So.", "stop")), at=NOON)
    cancelled = await jobs.book.cancel(HERE.tenant, added.id, at=LATER)
    assert cancelled is not None
    assert (cancelled.state, cancelled.ended_at) == (JobState.CANCELLED, LATER)
    assert cancelled.questions == LayerCount(1, 3, completed=1, cancelled=2)
    assert cancelled.progress == 1.0
    states = [item.state for item in await jobs.book.questions(HERE.tenant, added.id, limit=9)]
    assert states == [ItemState.COMPLETED, ItemState.CANCELLED, ItemState.CANCELLED]
    assert await jobs.queue.renew(ANNE, [running.place], until=LATER) == []
    assert not await jobs.queue.settle(running, Ended(answer=Answer("Too late.", "stop")), at=LATER)
    assert await jobs.claim(at=LATER) is None


async def test_a_job_that_is_over_cannot_be_cancelled_any_more(jobs: Jobs) -> None:
    added = await jobs.add(job(), questions(1))
    await jobs.queue.settle(await jobs.claimed(), Ended(error=ItemError("c", "m")), at=NOON)
    over = await jobs.book.get(HERE.tenant, added.id)
    assert over is not None
    assert over.state is JobState.COMPLETED
    assert await jobs.book.cancel(HERE.tenant, added.id, at=LATER) == over


async def test_a_job_may_have_more_items_than_a_statement_may_have_parameters(jobs: Jobs) -> None:
    plans = [*summaries(5_500), *questions(500, layer=2)]
    assert (await jobs.add(job(), plans)).layers == (LayerCount(1, 5_500), LayerCount(2, 500))
    assert len(await jobs.book.questions(HERE.tenant, job().id, limit=1_000)) == 500
