"""What is to be generated for jobs, in Postgres: claimed under a lease, each item by one worker.

Every transaction takes its locks in one order: the tenant's queue, the job, its items.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, and_, exists, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.job_book import OPEN_ITEM, OPEN_JOB, OPEN_STATES
from sessions.adapters.postgres.job_rows import (
    NO_LEASE,
    again_values,
    ended_values,
    error_values,
    item_of,
    plan_of,
)
from sessions.adapters.postgres.job_tables import job_items, job_queues, jobs
from sessions.adapters.postgres.transaction import Transaction, begun
from sessions.domain.job import Again, Claim, Ended, Item, ItemState, JobId, JobState, Place, WorkerId
from sessions.domain.viewer import TenantId
from sessions.job_ports import JobQueue
from sessions.tenant_wall import EVERY_TENANT

_KEY = (job_items.c.job_id, job_items.c.layer, job_items.c.number)


class PostgresJobQueue(JobQueue):
    def __init__(self, *, engine: AsyncEngine) -> None:
        self._engine = engine

    @override
    async def claim(self, owner: WorkerId, *, at: datetime, until: datetime, running: int) -> Claim | None:
        async with begun(self._engine, side=EVERY_TENANT) as work:
            tenant = await _next_tenant(work, at, running)
            found = None if tenant is None else await _next_item(work, tenant, at)
            if found is None:
                return None
            job, item = found
            place = Place(job.id, item.layer, item.number)
            await work.changed(
                update(job_items)
                .where(_at(place))
                .values(
                    state=ItemState.RUNNING,
                    attempts=item.attempts + 1,
                    lease_owner=owner,
                    lease_until=until,
                    started_at=func.coalesce(job_items.c.started_at, at),
                )
            )
            await work.changed(
                update(jobs)
                .where(jobs.c.id == job.id, jobs.c.state == JobState.QUEUED)
                .values(state=JobState.RUNNING, started_at=at)
            )
            await work.changed(update(job_queues).where(job_queues.c.tenant_id == job.tenant_id).values(served_at=at))
        return Claim(
            place=place,
            tenant=job.tenant_id,
            base=job.knowledge_base_id,
            document=job.document_id,
            asked_by=job.created_by,
            plan=plan_of(item),
            attempt=item.attempts + 1,
            owner=owner,
            until=until,
        )

    @override
    async def renew(self, owner: WorkerId, places: Sequence[Place], *, until: datetime) -> Sequence[Place]:
        named = [(place.job, place.layer, place.number) for place in places]
        async with begun(self._engine, side=EVERY_TENANT) as work:
            # Whoever holds one of the rows now is about to take it away; waiting for them could end in a deadlock.
            held = (
                select(*_KEY)
                .where(
                    job_items.c.lease_owner == owner,
                    job_items.c.state == ItemState.RUNNING,
                    tuple_(*_KEY).in_(named),
                )
                .with_for_update(skip_locked=True)
            )
            rows = await work.all(
                update(job_items).where(tuple_(*_KEY).in_(held)).values(lease_until=until).returning(*_KEY)
            )
        return [Place(row.job_id, row.layer, row.number) for row in rows]

    @override
    async def settle(self, claim: Claim, what: Again | Ended, *, at: datetime) -> bool:
        values = (
            again_values(what, claim.attempt) if isinstance(what, Again) else {**ended_values(what), "ended_at": at}
        )
        async with begun(self._engine, side=EVERY_TENANT) as work:
            # Of two who end the last two items one has to see the other's.
            await work.one(select(jobs.c.id).where(jobs.c.id == claim.place.job).with_for_update())
            written = await work.changed(
                update(job_items)
                .where(
                    _at(claim.place),
                    job_items.c.state == ItemState.RUNNING,
                    job_items.c.lease_owner == claim.owner,
                    job_items.c.attempts == claim.attempt,
                )
                .values(**values, **NO_LEASE)
            )
            if written and isinstance(what, Ended):
                await _after(work, claim.place.job, what, at)
        return bool(written)

    @override
    async def layer(self, job: JobId, layer: int, *, first: int, last: int) -> Sequence[Item]:
        wanted = (
            select(job_items)
            .where(job_items.c.job_id == job, job_items.c.layer == layer, job_items.c.number.between(first, last))
            .order_by(job_items.c.number)
        )
        async with begun(self._engine, side=EVERY_TENANT) as work:
            return [item_of(row) for row in await work.all(wanted)]


async def _next_tenant(work: Transaction, at: datetime, running: int) -> TenantId | None:
    """The tenant that was served longest ago, of those who have something to do and may. Its row is ours then: what it
    has running cannot grow behind our back, and another worker passes on to the next tenant."""
    under_way = (
        select(func.count())
        .where(
            job_items.c.tenant_id == job_queues.c.tenant_id,
            job_items.c.state == ItemState.RUNNING,
            job_items.c.lease_until > at,
        )
        .scalar_subquery()
    )
    has_work = _is_there(
        select(jobs.c.id).where(jobs.c.tenant_id == job_queues.c.tenant_id, OPEN_JOB, _has_free(at)), job_queues
    )
    row = await work.one(
        select(job_queues.c.tenant_id)
        .where(has_work, under_way < running)
        .order_by(job_queues.c.served_at, job_queues.c.tenant_id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if row is None:
        return None
    # Counted before the lock was ours, it may have grown since.
    counted = await work.one(select(under_way.label("now")).where(job_queues.c.tenant_id == row.tenant_id))
    return row.tenant_id if counted is not None and counted.now < running else None


async def _next_item(work: Transaction, tenant: TenantId, at: datetime) -> tuple[Row[Any], Row[Any]] | None:
    """The oldest job and its first item whose layer's turn it is. With the job's row in our hands nobody ends an item
    of it between the two statements."""
    job = await work.one(
        select(jobs)
        .where(jobs.c.tenant_id == tenant, OPEN_JOB, _has_free(at))
        .order_by(jobs.c.created_at, jobs.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if job is None:
        return None
    item = await work.one(
        _free(select(job_items), job.tenant_id, job.id, at=at)
        .order_by(job_items.c.number)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    return None if item is None else (job, item)


async def _after(work: Transaction, job: JobId, what: Ended, at: datetime) -> None:
    """Ends the job when nothing of it is open any more, or may go on."""
    state = JobState.COMPLETED
    if what.ends_job:
        state = JobState.FAILED
        await work.changed(
            update(job_items)
            .where(job_items.c.job_id == job, OPEN_ITEM)
            .values(state=ItemState.FAILED, ended_at=at, **error_values(what.error), **NO_LEASE)
        )
    is_open = exists().where(job_items.c.job_id == job, OPEN_ITEM)
    error = error_values(what.error if what.ends_job else None)
    await work.changed(
        update(jobs).where(jobs.c.id == job, OPEN_JOB, ~is_open).values(state=state, ended_at=at, **error)
    )


def _free(
    wanted: Select[Any], tenant: TenantId | ColumnElement[Any], job: JobId | ColumnElement[Any], *, at: datetime
) -> Select[Any]:
    """Items of a job that wait, or whose worker let the lease run out, in the first layer that is not over."""
    of_job = job_items.alias("of_job")
    layer = (
        select(of_job.c.layer)
        .where(of_job.c.tenant_id == tenant, of_job.c.job_id == job, of_job.c.state.in_(OPEN_STATES))
        .order_by(of_job.c.layer)
        .limit(1)
        .correlate(jobs)
        .scalar_subquery()
    )
    is_free = or_(
        and_(job_items.c.state == ItemState.QUEUED, job_items.c.not_before <= at),
        and_(job_items.c.state == ItemState.RUNNING, job_items.c.lease_until <= at),
    )
    its_own = (job_items.c.tenant_id == tenant, job_items.c.job_id == job)
    return wanted.where(*its_own, OPEN_ITEM, job_items.c.layer == layer, is_free)


def _has_free(at: datetime) -> ColumnElement[bool]:
    free = _free(select(job_items.c.number), jobs.c.tenant_id, jobs.c.id, at=at)
    return _is_there(free.order_by(job_items.c.number), jobs)


def _is_there(wanted: Select[Any], outer: Table) -> ColumnElement[bool]:
    """As `exists`, but always looked up for one row of `outer` at a time, by an index. Of an `exists` Postgres may make
    a join of all open items with all open jobs, for the sake of one."""
    return wanted.limit(1).correlate(outer).scalar_subquery().is_not(None)


def _at(place: Place) -> ColumnElement[bool]:
    return tuple_(*_KEY) == tuple_(place.job, place.layer, place.number)
