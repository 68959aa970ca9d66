"""See a tenant's jobs, and the answers of one as far as they are there."""

from collections.abc import Sequence

from sessions.domain.job import Item, Job, JobId
from sessions.domain.page import Cursor, Page
from sessions.domain.viewer import Viewer
from sessions.errors import JobNotFound
from sessions.job_ports import JobBook


class ReadJob:
    def __init__(self, *, book: JobBook) -> None:
        self._book = book

    async def __call__(self, viewer: Viewer, job: JobId) -> Job:
        """Raises `JobNotFound`."""
        return known(await self._book.get(viewer.tenant, job))


class ListJobs:
    def __init__(self, *, book: JobBook) -> None:
        self._book = book

    async def __call__(self, viewer: Viewer, limit: int, after: Cursor | None = None) -> Page[Job]:
        return await self._book.list(viewer.tenant, limit=limit, after=after)


class ReadResults:
    def __init__(self, *, book: JobBook) -> None:
        self._book = book

    async def __call__(self, viewer: Viewer, job: JobId, limit: int, after: int = 0) -> Sequence[Item]:
        """The questions behind number `after` with what became of them; none of a job that is not there."""
        return await self._book.questions(viewer.tenant, job, limit=limit, after=after)


def known(job: Job | None) -> Job:
    if job is None:
        raise JobNotFound("there is no such job")
    return job
