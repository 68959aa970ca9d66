"""Cancelling a job."""

import pytest

from sessions.adapters.memory_jobs import MemoryJobs
from sessions.domain.job import JobState
from sessions.errors import JobNotFound
from sessions.use_cases.cancel_job import CancelJob
from tests.support.jobs_fixture import job, questions
from tests.support.records_world import ELSEWHERE, HERE
from tests.support.session_fakes import FakeClock


async def test_a_tenant_cancels_its_own_job_once() -> None:
    jobs = MemoryJobs()
    added = await jobs.add(job(), questions(2), None, limit=9)
    cancel = CancelJob(book=jobs, clock=FakeClock())
    with pytest.raises(JobNotFound):
        await cancel(ELSEWHERE.teacher, added.id)
    ended = await cancel(HERE.teacher, added.id)
    assert (ended.state, ended.questions.cancelled) == (JobState.CANCELLED, 2)
    assert await cancel(HERE.teacher, added.id) == ended
