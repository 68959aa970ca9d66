"""A tenant's jobs in Postgres."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.job_rows import NO_LEASE, item_of, item_values, job_of, job_values
from sessions.adapters.postgres.job_tables import job_items, job_queues, jobs
from sessions.adapters.postgres.paging import page, paged
from sessions.adapters.postgres.transaction import Transaction, begun
from sessions.domain.job import Item, ItemKind, ItemPlan, ItemState, Job, JobId, JobState, LayerCount, counted
from sessions.domain.page import Cursor, Page
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import AccountId, TenantId
from sessions.errors import IdempotencyKeyReused, TooManyJobs
from sessions.job_ports import JobBook

OPEN_JOB = jobs.c.state.in_((JobState.QUEUED, JobState.RUNNING))
OPEN_STATES = (ItemState.QUEUED, ItemState.RUNNING)
OPEN_ITEM = job_items.c.state.in_(OPEN_STATES)


class PostgresJobBook(JobBook):
    def __init__(self, *, engine: AsyncEngine) -> None:
        self._engine = engine

    @override
    async def add(self, job: Job, plans: Sequence[ItemPlan], idempotency: IdempotencyKey | None, *, limit: int) -> Job:
        async with begun(self._engine, of=job.tenant) as work:
            await _enter_queue(work, job)
            if idempotency is not None:
                earlier = await _earlier(work, job.tenant, job.created_by, idempotency)
                if earlier is not None:
                    return earlier
            await _check_room(work, job.tenant, limit)
            await work.changed(insert(jobs).values(job_values(job, idempotency)))
            await work.each(insert(job_items), [item_values(job, plan) for plan in plans])
        return replace(job, layers=counted(plans))

    @override
    async def earlier(self, tenant: TenantId, account: AccountId, idempotency: IdempotencyKey) -> Job | None:
        async with begun(self._engine, of=tenant) as work:
            return await _earlier(work, tenant, account, idempotency)

    @override
    async def get(self, tenant: TenantId, job: JobId) -> Job | None:
        async with begun(self._engine, of=tenant) as work:
            return await _found(work, jobs.c.tenant_id == tenant, jobs.c.id == job)

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Job]:
        wanted = select(jobs).where(jobs.c.tenant_id == tenant)
        async with begun(self._engine, of=tenant) as work:
            rows = await work.all(paged(wanted, jobs.c.created_at, jobs.c.id, limit=limit, after=after))
            layers = await _layers(work, [row.id for row in rows])
        return page(rows, limit, item=lambda row: job_of(row, layers[row.id]), place="created_at")

    @override
    async def questions(self, tenant: TenantId, job: JobId, *, limit: int, after: int = 0) -> Sequence[Item]:
        wanted = (
            select(job_items)
            .where(
                job_items.c.tenant_id == tenant,
                job_items.c.job_id == job,
                job_items.c.kind == ItemKind.QUESTION,
                job_items.c.number > after,
            )
            .order_by(job_items.c.number)
            .limit(limit)
        )
        async with begun(self._engine, of=tenant) as work:
            return [item_of(row) for row in await work.all(wanted)]

    @override
    async def cancel(self, tenant: TenantId, job: JobId, *, at: datetime) -> Job | None:
        which = (jobs.c.tenant_id == tenant, jobs.c.id == job)
        async with begun(self._engine, of=tenant) as work:
            # The job's row comes first here as everywhere, so that who ends its last item waits for us, or we for them.
            ended = await work.changed(
                update(jobs).where(*which, OPEN_JOB).values(state=JobState.CANCELLED, ended_at=at)
            )
            if ended:
                await work.changed(
                    update(job_items)
                    .where(job_items.c.job_id == job, OPEN_ITEM)
                    .values(state=ItemState.CANCELLED, ended_at=at, **NO_LEASE)
                )
            return await _found(work, *which)


async def _enter_queue(work: Transaction, job: Job) -> None:
    """The tenant's queue is its lock: with the row in our hands nobody else adds a job of this tenant."""
    row = {"tenant_id": job.tenant, "served_at": job.created_at}
    await work.changed(upsert(job_queues).values(row).on_conflict_do_nothing())
    await work.one(select(job_queues).where(job_queues.c.tenant_id == job.tenant).with_for_update())


async def _earlier(work: Transaction, tenant: TenantId, account: AccountId, idempotency: IdempotencyKey) -> Job | None:
    mine = (jobs.c.tenant_id == tenant, jobs.c.created_by == account)
    row = await work.one(select(jobs).where(*mine, jobs.c.idempotency_key == idempotency.key))
    if row is None:
        return None
    if row.idempotency_digest != idempotency.digest:
        raise IdempotencyKeyReused
    return job_of(row, (await _layers(work, [row.id]))[row.id])


async def _check_room(work: Transaction, tenant: TenantId, limit: int) -> None:
    counted_row = await work.one(select(func.count().label("open")).where(jobs.c.tenant_id == tenant, OPEN_JOB))
    if counted_row is not None and counted_row.open >= limit:
        raise TooManyJobs(limit)


async def _found(work: Transaction, *which: ColumnElement[bool]) -> Job | None:
    row = await work.one(select(jobs).where(*which))
    return None if row is None else job_of(row, (await _layers(work, [row.id]))[row.id])


async def _layers(work: Transaction, found: Sequence[JobId]) -> dict[JobId, list[LayerCount]]:
    def of(state: ItemState) -> ColumnElement[int]:
        return func.count().filter(job_items.c.state == state).label(state.value)

    rows: Sequence[Row[Any]] = await work.all(
        select(
            job_items.c.job_id,
            job_items.c.layer,
            func.count().label("total"),
            of(ItemState.COMPLETED),
            of(ItemState.FAILED),
            of(ItemState.CANCELLED),
        )
        .where(job_items.c.job_id.in_(found))
        .group_by(job_items.c.job_id, job_items.c.layer)
        .order_by(job_items.c.job_id, job_items.c.layer)
    )
    layers: dict[JobId, list[LayerCount]] = {job: [] for job in found}
    for row in rows:
        layers[row.job_id].append(LayerCount(row.layer, row.total, row.completed, row.failed, row.cancelled))
    return layers
