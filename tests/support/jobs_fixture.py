"""Jobs, in memory and on Postgres, with both tenants and their people."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from sessions.adapters.memory_jobs import MemoryJobs
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.job_book import PostgresJobBook
from sessions.adapters.postgres.job_queue import PostgresJobQueue
from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.job import Claim, ItemKind, ItemPlan, Job, JobId, WorkerId
from sessions.job_ports import JobBook, JobQueue
from tests.support.records_world import HERE, NOON, People, settle, uuid_of

ANNE = WorkerId("anne")
BERT = WorkerId("bert")
LEASE = timedelta(seconds=30)


@dataclass(frozen=True)
class Jobs:
    book: JobBook
    queue: JobQueue

    async def claim(self, owner: WorkerId = ANNE, *, at: datetime = NOON, running: int = 100) -> Claim | None:
        return await self.queue.claim(owner, at=at, until=at + LEASE, running=running)

    async def claimed(self, owner: WorkerId = ANNE, *, at: datetime = NOON) -> Claim:
        found = await self.claim(owner, at=at)
        assert found is not None
        return found

    async def add(self, job: Job, plans: list[ItemPlan]) -> Job:
        return await self.book.add(job, plans, None, limit=100)


def job(name: str = "job", people: People = HERE, *, minutes: int = 0) -> Job:
    return Job(
        id=JobId(uuid_of(name)),
        tenant=people.tenant,
        base=KnowledgeBaseId(uuid_of("base")),
        created_by=people.instructor,
        created_at=NOON + timedelta(minutes=minutes),
    )


def questions(count: int, *, layer: int = 1) -> list[ItemPlan]:
    return [ItemPlan(layer, number, ItemKind.QUESTION, f"Question {number}? 问题") for number in range(1, count + 1)]


def summaries(count: int, *, layer: int = 1) -> list[ItemPlan]:
    return [ItemPlan(layer, number, ItemKind.SUMMARY, "", number, number) for number in range(1, count + 1)]


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def jobs(request: pytest.FixtureRequest) -> AsyncIterator[Jobs]:
    if request.param == "memory":
        both = MemoryJobs()
        yield Jobs(both, both)
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    yield Jobs(PostgresJobBook(engine=engine), PostgresJobQueue(engine=engine))
    await engine.dispose()
