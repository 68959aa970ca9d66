"""What a tenant sees of its jobs."""

from uuid import uuid4

import pytest

from sessions.adapters.memory_jobs import MemoryJobs
from sessions.domain.job import JobId
from sessions.errors import JobNotFound
from sessions.use_cases.read_job import ListJobs, ReadJob, ReadResults
from tests.support.jobs_fixture import job, questions
from tests.support.records_world import ELSEWHERE, HERE


async def test_a_job_is_seen_in_its_tenant_alone() -> None:
    jobs = MemoryJobs()
    added = await jobs.add(job(), questions(3), None, limit=9)
    read, results, listed = ReadJob(book=jobs), ReadResults(book=jobs), ListJobs(book=jobs)
    assert await read(HERE.teacher, added.id) == added
    assert [item.plan.number for item in await results(HERE.teacher, added.id, 2, 1)] == [2, 3]
    assert (await listed(HERE.teacher, 5)).items == (added,)
    for viewer, which in ((ELSEWHERE.teacher, added.id), (HERE.teacher, JobId(uuid4()))):
        with pytest.raises(JobNotFound):
            await read(viewer, which)
        assert list(await results(viewer, which, 5)) == []
    assert (await listed(ELSEWHERE.teacher, 5)).items == ()
