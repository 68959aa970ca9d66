"""Cancel a job: what waits is given up at once, what is being generated stops as soon as its worker hears of it."""

from sessions.domain.job import Job, JobId
from sessions.domain.viewer import Viewer
from sessions.job_ports import JobBook
from sessions.ports import Clock
from sessions.use_cases.read_job import known


class CancelJob:
    def __init__(self, *, book: JobBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock

    async def __call__(self, viewer: Viewer, job: JobId) -> Job:
        """The job as it is then; one that was over stays as it was. Raises `JobNotFound`."""
        return known(await self._book.cancel(viewer.tenant, job, at=self._clock.now()))
