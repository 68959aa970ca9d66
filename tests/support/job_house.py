"""A knowledge base whose questions are answered by a simulated vLLM, with workers here or in processes of their own."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.settings import ModelSettings, ReplicaSettings, Settings
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.job_book import PostgresJobBook
from sessions.adapters.postgres.knowledge_catalogue import PostgresCatalogue
from sessions.adapters.postgres.knowledge_library import PostgresLibrary
from sessions.adapters.postgres.knowledge_shelf import PostgresShelf
from sessions.domain.job import Item, Job
from sessions.domain.job_layers import LayerSizes
from sessions.domain.knowledge import Document, KnowledgeBase
from sessions.errors import RecordsUnavailable
from sessions.job_settings import JobSettings
from sessions.use_cases.ask_questions import AskingRules, AskQuestions, QuestionsOrder
from tests.support.records_world import HERE, settle
from tests.support.session_fakes import FakeClock
from tests.support.shelved import shelved
from tests.support.simulator_process import SimulatorProcess

_ROOT = Path(__file__).parents[2]
SIZES = LayerSizes(whole=20, stretch=200, summaries=2)


@dataclass(frozen=True, slots=True)
class JobHouse:
    """`settings` are those of a process with workers."""

    settings: Settings
    replica: SimulatorProcess
    book: PostgresJobBook
    library: PostgresLibrary
    ask_questions: AskQuestions
    base: KnowledgeBase
    document: Document

    async def ask(self, questions: Sequence[str], *, of_document: bool = False) -> Job:
        document = self.document.id if of_document else None
        return await self.ask_questions(QuestionsOrder(HERE.teacher, self.base.id, tuple(questions), document))

    async def when(self, job: Job, holds: Callable[[Job], bool], *, within_s: float = 30.0) -> Job:
        """The job, as soon as this holds of it; a database that is away is asked again."""
        deadline = time.monotonic() + within_s
        while True:
            try:
                seen = await self.book.get(HERE.tenant, job.id)
            except RecordsUnavailable:
                seen = None
            if seen is not None and holds(seen):
                return seen
            assert time.monotonic() < deadline, f"it did not come about: {seen}"
            await asyncio.sleep(0.02)

    async def ended(self, job: Job, *, within_s: float = 30.0) -> Job:
        return await self.when(job, lambda seen: seen.state.is_over, within_s=within_s)

    async def results(self, job: Job) -> Sequence[Item]:
        return await self.book.questions(HERE.tenant, job.id, limit=1000)

    def asked(self) -> list[str]:
        """What every request for an answer held; the router's own are left out."""
        return [request["body"] for request in self.replica.requests() if "Question" in request["body"]]


@asynccontextmanager
async def job_house(
    database_url: str, redis_url: str, model: Path, replica: SimulatorProcess, *texts: str, **jobs: object
) -> AsyncIterator[JobHouse]:
    """`texts` are the chunks of the base's one document, `jobs` settings of jobs."""
    engine = postgres_engine(database_url)
    await settle(engine)
    library = PostgresLibrary(engine=engine)
    base, document = await shelved(library, HERE.tenant, *texts, by=HERE.instructor)
    book = PostgresJobBook(engine=engine)
    quick = {"poll_s": 0.05, "retry_pause_s": 0.05, "lease_s": 2, "workers": 4, "running_per_tenant": 100}
    try:
        yield JobHouse(
            settings=Settings(
                redis_url=redis_url,
                database_url=database_url,
                model=ModelSettings(name="smollm2", folder=model),
                replicas=(ReplicaSettings(id="simulated", url=replica.url),),
                jobs=JobSettings.model_validate({**quick, **jobs}),
            ),
            replica=replica,
            book=book,
            library=library,
            ask_questions=AskQuestions(
                book=book,
                catalogue=PostgresCatalogue(engine=engine),
                shelf=PostgresShelf(engine=engine),
                rules=AskingRules(questions_per_job=500, jobs_per_tenant=10, sizes=SIZES),
                clock=FakeClock(),
            ),
            base=base,
            document=document,
        )
    finally:
        await engine.dispose()


@contextmanager
def worker_process(house: JobHouse, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`drillyard worker` with the house's settings; killed at the end if nobody has done so before."""
    settings = house.settings
    environment = {
        **os.environ,
        "DRILLYARD_REDIS_URL": str(settings.redis_url),
        "DRILLYARD_DATABASE_URL": str(settings.database_url),
        "DRILLYARD_MODEL__NAME": settings.model.name,
        "DRILLYARD_MODEL__FOLDER": str(settings.model.folder),
        "DRILLYARD_REPLICAS": json.dumps([{"id": each.id, "url": str(each.url)} for each in settings.replicas]),
        "DRILLYARD_JOBS": settings.jobs.model_dump_json(),
        # Two that bear the same name must not hold each other's items.
        "DRILLYARD_INSTANCE": "worker",
    }
    with log.open("ab") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "gateway.cli.main", "worker"], cwd=_ROOT, env=environment, stderr=written
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def numbered(count: int) -> list[str]:
    return [f"Question {number}: are returns free?" for number in range(1, count + 1)]
