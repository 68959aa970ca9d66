"""What the tables of jobs refuse, whatever a statement of ours gets wrong."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.job_book import PostgresJobBook
from sessions.adapters.postgres.job_queue import PostgresJobQueue
from sessions.domain.job import Answer, Ended, ItemError
from tests.support.jobs_fixture import Jobs, job, questions
from tests.support.records_world import NOON, settle

pytestmark = pytest.mark.postgres


@pytest.fixture
async def filled(database_engine: AsyncEngine) -> AsyncEngine:
    """A database with a job of which one question is answered, one failed, one runs and one waits."""
    await settle(database_engine)
    jobs = Jobs(PostgresJobBook(engine=database_engine), PostgresJobQueue(engine=database_engine))
    await jobs.add(job(), questions(4))
    await jobs.queue.settle(await jobs.claimed(), Ended(answer=Answer("So.", "stop")), at=NOON)
    await jobs.queue.settle(await jobs.claimed(), Ended(error=ItemError("c", "m")), at=NOON)
    await jobs.claimed()
    return database_engine


@pytest.mark.parametrize(
    ("change", "refused_by"),
    [
        ("update jobs set state = 'paused', ended_at = now()", "jobs_state_check"),
        ("update jobs set state = 'completed'", "jobs_ended_at_check"),
        ("update jobs set ended_at = now()", "jobs_ended_at_check"),
        ("update jobs set error_code = 'c'", "jobs_error_check"),
        ("update jobs set idempotency_key = 'k'", "jobs_idempotency_check"),
        ("update jobs set created_by = gen_random_uuid()", "jobs_author_fkey"),
        ("update job_items set layer = 0", "job_items_place_check"),
        ("update job_items set number = 1", "job_items_pkey"),
        ("update job_items set kind = 'joke'", "job_items_kind_check"),
        ("update job_items set state = 'paused' where state = 'queued'", "job_items_state_check"),
        ("update job_items set lease_owner = null", "job_items_lease_check"),
        ("update job_items set lease_until = now()", "job_items_lease_check"),
        ("update job_items set state = 'queued' where state = 'running'", "job_items_lease_check"),
        ("update job_items set answer = 'So.'", "job_items_answer_check"),
        ("update job_items set error_code = 'c', error_message = 'm'", "job_items_error_check"),
        ("update job_items set tenant_id = gen_random_uuid()", "job_items_job_fkey"),
        ("update job_queues set tenant_id = gen_random_uuid()", "job_queues_tenant_fkey"),
        ("delete from jobs", "job_items_job_fkey"),
    ],
)
async def test_nonsense_is_refused(filled: AsyncEngine, change: str, refused_by: str) -> None:
    with pytest.raises(IntegrityError, match=refused_by):
        async with filled.begin() as connection:
            await connection.execute(text(change))
