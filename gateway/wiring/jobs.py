"""Jobs: what callers do with them, and the workers that answer them."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.job_cases import JobCases, job_cases
from gateway.job_workers import OUTCOMES, JobWorkers, WorkerRules
from gateway.settings import Settings
from gateway.wiring.background import background
from gateway.wiring.clock import SystemClock
from gateway.wiring.knowledge import KnowledgeFinding
from gateway.wiring.models import Counters
from sessions.adapters.postgres.job_book import PostgresJobBook
from sessions.adapters.postgres.job_queue import PostgresJobQueue
from sessions.adapters.postgres.knowledge_catalogue import PostgresCatalogue
from sessions.adapters.postgres.knowledge_shelf import PostgresShelf
from sessions.answer_writer import AnswerWriter
from sessions.domain.job import WorkerId
from sessions.domain.tiers import Tier
from sessions.moderation_ports import Moderation
from sessions.ports import Tiers, Tutor
from sessions.use_cases.ask_questions import AskingRules
from sessions.use_cases.generate_item import GenerateItem, KnowledgeSources

_GIVE_BACK_S = 5.0


@dataclass(frozen=True, slots=True)
class Answering:
    """What answers are generated with."""

    tutor: Tutor
    tiers: Tiers
    finding: KnowledgeFinding
    moderation: Moderation


@dataclass(frozen=True, slots=True)
class JobWork:
    """What callers do with jobs, and what this process does for them."""

    cases: JobCases
    workers: JobWorkers

    def gauges(self) -> Mapping[str, float]:
        return {"job_items_running": self.workers.figures.running}

    def counters(self) -> Mapping[str, float]:
        figures = self.workers.figures
        return {
            "job_pauses": figures.pauses,
            "job_faults": figures.faults,
            **{f"job_items_{name}": figures.ended.get(name, 0) for name in OUTCOMES},
        }


@asynccontextmanager
async def job_work(
    settings: Settings, engine: AsyncEngine, counters: Counters, answering: Answering
) -> AsyncIterator[JobWork]:
    """While it is entered, workers answer what there is to answer."""
    writers = answer_writers(settings, counters)
    workers = _workers(settings, engine, answering, writers)
    async with background(workers.run()):
        try:
            yield JobWork(_cases(settings, engine, writers), workers)
        finally:
            workers.stop()
            await workers.ended(within_s=_GIVE_BACK_S)


def answer_writers(settings: Settings, counters: Counters) -> Mapping[str, AnswerWriter]:
    return {
        model.name: AnswerWriter(counter=counters[model.name], shares=settings.jobs.shares(model.window_tokens))
        for model in settings.all_models
    }


def _cases(settings: Settings, engine: AsyncEngine, writers: Mapping[str, AnswerWriter]) -> JobCases:
    usual = settings.tiers.get(Tier.FAQ, settings.model.name)
    return job_cases(
        book=PostgresJobBook(engine=engine),
        catalogue=PostgresCatalogue(engine=engine),
        shelf=PostgresShelf(engine=engine),
        rules=AskingRules(
            questions_per_job=settings.jobs.questions_per_job,
            jobs_per_tenant=settings.jobs.jobs_per_tenant,
            sizes=writers[usual].sizes,
        ),
        clock=SystemClock(),
    )


def _workers(
    settings: Settings, engine: AsyncEngine, answering: Answering, writers: Mapping[str, AnswerWriter]
) -> JobWorkers:
    queue, jobs = PostgresJobQueue(engine=engine), settings.jobs
    sources = KnowledgeSources(
        catalogue=PostgresCatalogue(engine=engine),
        shelf=PostgresShelf(engine=engine),
        search=answering.finding.search,
    )
    generate = GenerateItem(
        sources=sources,
        queue=queue,
        tutor=answering.tutor,
        tiers=answering.tiers,
        writers=writers,
        moderation=answering.moderation,
    )
    return JobWorkers(
        # Unlike the instance's name it never comes again: nobody may renew what a process before it has left.
        owner=WorkerId(f"{settings.instance}-{secrets.token_hex(8)}"),
        queue=queue,
        generate=generate,
        clock=SystemClock(),
        rules=WorkerRules(
            at_once=jobs.workers,
            running_per_tenant=jobs.running_per_tenant,
            lease_s=jobs.lease_s,
            poll_s=jobs.poll_s,
            retry=jobs.retry,
        ),
    )
