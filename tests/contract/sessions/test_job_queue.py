"""How workers share what is to be generated, in memory and on Postgres."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.job_book import PostgresJobBook
from sessions.adapters.postgres.job_queue import PostgresJobQueue
from sessions.domain.citation import Citation, DocumentId
from sessions.domain.job import Again, Answer, Claim, Ended, ItemError, ItemState, JobState, LayerCount, Place, WorkerId
from tests.support.jobs_fixture import ANNE, BERT, LEASE, Jobs, job, questions, summaries
from tests.support.records_world import ELSEWHERE, HERE, NOON, settle, uuid_of

SECOND = timedelta(seconds=1)
LATER = NOON + timedelta(hours=1)
ANSWER = Answer(
    "Within 14 days. 十四天内。",
    "stop",
    model="m",
    tier="faq",
    fell_back=True,
    citations=(Citation(DocumentId(uuid_of("document")), "Returns", 3, "A > B", 1.5),),
)
WRONG = ItemError("tutor_broke", "the reply broke off")


async def answer(jobs: Jobs, claim: Claim) -> bool:
    return await jobs.queue.settle(claim, Ended(answer=ANSWER), at=NOON)


async def test_a_claim_tells_all_that_the_work_needs(jobs: Jobs) -> None:
    added = await jobs.add(replace(job(), document=DocumentId(uuid_of("document"))), questions(1))
    claim = await jobs.claimed()
    assert (claim.place.job, claim.tenant, claim.base) == (added.id, added.tenant, added.base)
    assert (claim.document, claim.asked_by) == (added.document, added.created_by)
    assert (claim.plan, claim.attempt) == (questions(1)[0], 1)
    assert (claim.owner, claim.until) == (ANNE, NOON + LEASE)
    begun = await jobs.book.get(added.tenant, added.id)
    assert begun is not None
    assert (begun.state, begun.started_at) == (JobState.RUNNING, NOON)


async def test_items_are_claimed_in_order_and_each_once(jobs: Jobs) -> None:
    await jobs.add(job(), questions(3))
    claims = [await jobs.claimed(worker) for worker in (ANNE, BERT, ANNE)]
    assert [claim.place.number for claim in claims] == [1, 2, 3]
    assert await jobs.claim() is None


async def test_an_answer_is_kept_with_all_that_belongs_to_it(jobs: Jobs) -> None:
    added = await jobs.add(job(), questions(2))
    assert await answer(jobs, await jobs.claimed())
    (item,) = await jobs.book.questions(HERE.tenant, added.id, limit=1)
    assert (item.state, item.answer, item.error) == (ItemState.COMPLETED, ANSWER, None)
    assert (item.started_at, item.ended_at, item.attempts) == (NOON, NOON, 1)


async def test_a_job_is_over_with_its_last_item_whatever_became_of_the_others(jobs: Jobs) -> None:
    added = await jobs.add(job(), questions(2))
    first, second = await jobs.claimed(), await jobs.claimed()
    await jobs.queue.settle(first, Ended(error=WRONG), at=NOON)
    running = await jobs.book.get(HERE.tenant, added.id)
    assert running is not None
    assert (running.state, running.progress) == (JobState.RUNNING, 0.5)
    await answer(jobs, second)
    over = await jobs.book.get(HERE.tenant, added.id)
    assert over is not None
    assert (over.state, over.ended_at, over.error) == (JobState.COMPLETED, NOON, None)
    assert over.questions == LayerCount(1, 2, completed=1, failed=1)
    wrong, _ = await jobs.book.questions(HERE.tenant, added.id, limit=9)
    assert (wrong.state, wrong.error, wrong.answer) == (ItemState.FAILED, WRONG, None)


async def test_of_two_who_end_the_last_items_at_once_one_ends_the_job(jobs: Jobs) -> None:
    for count in range(5):
        added = await jobs.add(job(f"job {count}"), questions(4))
        claims = [await jobs.claimed() for _ in range(4)]
        assert await asyncio.gather(*(answer(jobs, claim) for claim in claims)) == [True] * 4
        over = await jobs.book.get(HERE.tenant, added.id)
        assert over is not None
        assert over.state is JobState.COMPLETED


async def test_an_item_that_goes_back_waits_for_its_moment(jobs: Jobs) -> None:
    await jobs.add(job(), questions(1))
    claim = await jobs.claimed()
    assert await jobs.queue.settle(claim, Again(NOON + SECOND, counts=True), at=NOON)
    assert await jobs.claim() is None
    assert (await jobs.claimed(at=NOON + SECOND)).attempt == 2


async def test_what_was_not_tried_does_not_count(jobs: Jobs) -> None:
    await jobs.add(job(), questions(1))
    await jobs.queue.settle(await jobs.claimed(), Again(NOON, counts=False), at=NOON)
    assert (await jobs.claimed()).attempt == 1


async def test_the_item_of_a_lost_worker_goes_to_another(jobs: Jobs) -> None:
    added = await jobs.add(job(), questions(1))
    lost = await jobs.claimed(ANNE)
    assert await jobs.claim(BERT, at=NOON + LEASE - SECOND) is None
    taken = await jobs.claimed(BERT, at=NOON + LEASE)
    assert (taken.place, taken.attempt) == (lost.place, 2)
    assert not await jobs.queue.settle(lost, Ended(answer=replace(ANSWER, text="too late")), at=NOON)
    assert not await jobs.queue.settle(lost, Again(NOON, counts=True), at=NOON)
    assert await answer(jobs, taken)
    (item,) = await jobs.book.questions(HERE.tenant, added.id, limit=9)
    assert item.answer == ANSWER


async def test_a_worker_that_takes_its_own_lost_item_again_writes_once(jobs: Jobs) -> None:
    await jobs.add(job(), questions(1))
    lost = await jobs.claimed()
    taken = await jobs.claimed(at=NOON + LEASE)
    assert not await answer(jobs, lost)
    assert await answer(jobs, taken)
    assert not await answer(jobs, taken)


async def test_what_is_renewed_stays(jobs: Jobs) -> None:
    await jobs.add(job(), questions(3))
    mine = [(await jobs.claimed(ANNE)).place, (await jobs.claimed(ANNE)).place]
    theirs = (await jobs.claimed(BERT)).place
    kept = await jobs.queue.renew(ANNE, [*mine, theirs], until=NOON + 2 * LEASE)
    assert sorted(kept, key=lambda place: place.number) == mine
    assert (await jobs.claimed(ANNE, at=NOON + LEASE)).place == theirs
    assert await jobs.queue.renew(BERT, [theirs], until=NOON + 2 * LEASE) == []
    assert await jobs.claim(at=NOON + LEASE) is None


async def test_what_is_not_named_runs_out(jobs: Jobs) -> None:
    await jobs.add(job(), questions(2))
    known, lost = await jobs.claimed(), await jobs.claimed()
    assert await jobs.queue.renew(ANNE, [known.place], until=NOON + 2 * LEASE) == [known.place]
    assert (await jobs.claimed(BERT, at=NOON + LEASE)).place == lost.place


async def test_a_layer_waits_for_those_before_it(jobs: Jobs) -> None:
    added = await jobs.add(job(), [*summaries(2), *questions(1, layer=2)])
    first, second = await jobs.claimed(), await jobs.claimed()
    assert {first.place.layer, second.place.layer} == {1}
    await answer(jobs, first)
    assert await jobs.claim() is None
    await answer(jobs, second)
    assert (await jobs.claimed()).place.layer == 2
    below = await jobs.queue.layer(added.id, 1, first=1, last=2)
    assert [item.answer for item in below] == [ANSWER, ANSWER]
    assert [item.plan.number for item in await jobs.queue.layer(added.id, 1, first=2, last=2)] == [2]


async def test_who_waits_for_a_layer_holds_up_nobody(jobs: Jobs) -> None:
    await jobs.add(job("slow"), [*summaries(1), *questions(1, layer=2)])
    await jobs.claimed(at=LATER)
    quick = await jobs.add(job("quick", minutes=1), questions(1))
    await jobs.add(job("theirs", ELSEWHERE), [*summaries(1), *questions(1, layer=2)])
    assert (await jobs.claimed(at=LATER)).tenant == ELSEWHERE.tenant
    assert (await jobs.claimed(at=LATER)).place.job == quick.id
    assert await jobs.claim(at=LATER) is None


async def test_tenants_take_turns(jobs: Jobs) -> None:
    await jobs.add(job("first"), questions(4))
    await jobs.add(job("second", minutes=1), questions(1))
    await jobs.add(job("theirs", ELSEWHERE, minutes=2), questions(2))
    served = [(await jobs.claimed(at=LATER + tick * SECOND)).tenant for tick in range(1, 5)]
    assert served == [HERE.tenant, ELSEWHERE.tenant, HERE.tenant, ELSEWHERE.tenant]
    assert [(await jobs.claimed(at=LATER + 9 * SECOND)).tenant for _ in range(3)] == [HERE.tenant] * 3


async def test_a_tenant_has_only_so_many_running(jobs: Jobs) -> None:
    await jobs.add(job(), questions(5))
    await jobs.add(job("theirs", ELSEWHERE, minutes=1), questions(5))
    claims = [await jobs.claim(at=LATER + tick * SECOND, running=2) for tick in range(6)]
    taken = [claim.tenant for claim in claims if claim is not None]
    assert sorted(taken) == sorted([HERE.tenant] * 2 + [ELSEWHERE.tenant] * 2)
    assert claims[0] is not None
    await answer(jobs, claims[0])
    again = await jobs.claim(at=LATER + 7 * SECOND, running=2)
    assert again is not None
    assert again.tenant == claims[0].tenant


async def test_a_lost_workers_items_do_not_count_as_running(jobs: Jobs) -> None:
    await jobs.add(job(), questions(2))
    await jobs.claimed(ANNE)
    assert await jobs.claim(BERT, running=1) is None
    assert await jobs.claim(BERT, at=NOON + LEASE, running=1) is not None


async def test_an_error_that_ends_the_job_tells_every_question_why(jobs: Jobs) -> None:
    added = await jobs.add(job(), [*summaries(2), *questions(2, layer=2)])
    first, second = await jobs.claimed(), await jobs.claimed()
    gone = ItemError("knowledge_base_not_found", "it is gone")
    assert await jobs.queue.settle(first, Ended(error=gone, ends_job=True), at=NOON)
    over = await jobs.book.get(HERE.tenant, added.id)
    assert over is not None
    assert (over.state, over.error, over.ended_at) == (JobState.FAILED, gone, NOON)
    assert [item.error for item in await jobs.book.questions(HERE.tenant, added.id, limit=9)] == [gone, gone]
    assert not await answer(jobs, second)
    assert await jobs.claim(at=NOON + LEASE) is None


async def test_workers_that_race_answer_each_question_once(jobs: Jobs) -> None:
    """Every worker takes what it can get; nothing is claimed twice, and nothing is left."""
    added = await jobs.add(job(), questions(200))
    seen: list[int] = []

    async def work(name: str) -> None:
        idle = 0
        while len(seen) < 200 and idle < 2000:
            claim = await jobs.claim(WorkerId(name))
            if claim is None:  # another held the queue just then
                idle += 1
                await asyncio.sleep(0.001)
                continue
            seen.append(claim.place.number)
            assert await answer(jobs, claim)

    await asyncio.gather(*(work(f"worker {count}") for count in range(2)))
    assert sorted(seen) == list(range(1, 201))
    over = await jobs.book.get(HERE.tenant, added.id)
    assert over is not None
    assert (over.state, over.questions) == (JobState.COMPLETED, LayerCount(1, 200, completed=200))


@pytest.mark.postgres
async def test_a_claim_reads_no_more_the_more_is_open(database_url: str) -> None:
    # One connection, so that what it has read is told before the next question.
    engine = postgres_engine(database_url, pool_size=1)
    await settle(engine)
    both = Jobs(PostgresJobBook(engine=engine), PostgresJobQueue(engine=engine))
    for number in range(5):
        await both.add(job(f"job {number}", minutes=number), [*summaries(300), *questions(100, layer=2)])
    await _on(engine, "analyze")
    before = await _rows_read(engine)
    assert (await both.claimed(at=LATER)).place == Place(job("job 0").id, 1, 1)
    read = await _rows_read(engine) - before
    await engine.dispose()
    assert 3 <= read < 50


async def _rows_read(engine: AsyncEngine) -> int:
    await _on(engine, "select pg_stat_force_next_flush()")
    read = "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_user_tables"
    return int(await _on(engine, f"{read} where relname in ('jobs', 'job_items', 'job_queues')"))


async def _on(engine: AsyncEngine, statement: str) -> Any:
    async with engine.begin() as connection:
        ended = await connection.execute(text(statement))
        return ended.scalar() if ended.returns_rows else None
