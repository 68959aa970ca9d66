"""Jobs: what callers do with them, and the workers that answer them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.job_cases import JobCases, job_cases
from gateway.job_workers import JobWorkers, WorkerRules
from gateway.settings import Settings
from gateway.wiring.clock import SystemClock
from gateway.wiring.models import Counters
from sessions.adapters.postgres.job_book import PostgresJobBook
from sessions.adapters.postgres.job_queue import PostgresJobQueue
from sessions.adapters.postgres.knowledge_catalogue import PostgresCatalogue
from sessions.adapters.postgres.knowledge_shelf import PostgresShelf
from sessions.answer_writer import AnswerWriter
from sessions.domain.job import WorkerId
from sessions.domain.tiers import Tier
from sessions.ports import Tiers, Tutor
from sessions.use_cases.ask_questions import AskingRules
from sessions.use_cases.generate_item import GenerateItem, KnowledgeSources


@dataclass(frozen=True, slots=True)
class Answering:
    """What answers are generated with."""

    tutor: Tutor
    tiers: Tiers
    sources: KnowledgeSources


def answer_writers(settings: Settings, counters: Counters) -> Mapping[str, AnswerWriter]:
    return {
        model.name: AnswerWriter(counter=counters[model.name], shares=settings.jobs.shares(model.window_tokens))
        for model in settings.all_models
    }


def asking(settings: Settings, engine: AsyncEngine, writers: Mapping[str, AnswerWriter]) -> JobCases:
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


def job_workers(
    settings: Settings, engine: AsyncEngine, answering: Answering, writers: Mapping[str, AnswerWriter]
) -> JobWorkers:
    queue, jobs = PostgresJobQueue(engine=engine), settings.jobs
    generate = GenerateItem(
        sources=answering.sources, queue=queue, tutor=answering.tutor, tiers=answering.tiers, writers=writers
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
