"""What is to be generated for jobs, in Postgres: claimed under a lease, each item by one worker.

Every transaction takes its locks in one order: the tenant's queue, the job, its items.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, exists, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from sessions.adapters.postgres.job_book import OPEN_ITEM, OPEN_JOB
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

_KEY = (job_items.c.job_id, job_items.c.layer, job_items.c.number)


class PostgresJobQueue(JobQueue):
    def __init__(self, *, engine: AsyncEngine) -> None:
        self._engine = engine

    @override
    async def claim(self, owner: WorkerId, *, at: datetime, until: datetime, running: int) -> Claim | None:
        async with begun(self._engine) as work:
            tenant = await _next_tenant(work, at, running)
            row = None if tenant is None else await _next_item(work, tenant, at)
            if row is None:
                return None
            place = Place(row.job_id, row.layer, row.number)
            await work.changed(
                update(job_items)
                .where(_at(place))
                .values(
                    state=ItemState.RUNNING,
                    attempts=row.attempts + 1,
                    lease_owner=owner,
                    lease_until=until,
                    started_at=func.coalesce(job_items.c.started_at, at),
                )
            )
            await work.changed(
                update(jobs)
                .where(jobs.c.id == row.job_id, jobs.c.state == JobState.QUEUED)
                .values(state=JobState.RUNNING, started_at=at)
            )
            await work.changed(update(job_queues).where(job_queues.c.tenant_id == row.tenant_id).values(served_at=at))
        return Claim(
            place=place,
            tenant=row.tenant_id,
            base=row.knowledge_base_id,
            document=row.document_id,
            asked_by=row.created_by,
            plan=plan_of(row),
            attempt=row.attempts + 1,
            owner=owner,
            until=until,
        )

    @override
    async def renew(self, owner: WorkerId, places: Sequence[Place], *, until: datetime) -> Sequence[Place]:
        named = [(place.job, place.layer, place.number) for place in places]
        async with begun(self._engine) as work:
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
        async with begun(self._engine) as work:
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
        async with begun(self._engine) as work:
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
    has_work = exists(_claimable(select(job_items.c.number), at).where(job_items.c.tenant_id == job_queues.c.tenant_id))
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


async def _next_item(work: Transaction, tenant: TenantId, at: datetime) -> Row[Any] | None:
    """The oldest job's first item whose layer's turn it is."""
    return await work.one(
        _claimable(select(job_items, jobs.c.knowledge_base_id, jobs.c.document_id, jobs.c.created_by), at)
        .where(job_items.c.tenant_id == tenant)
        .order_by(jobs.c.created_at, jobs.c.id, job_items.c.layer, job_items.c.number)
        .limit(1)
        .with_for_update(of=[jobs, job_items], skip_locked=True)
    )


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


def _claimable(wanted: Select[Any], at: datetime) -> Select[Any]:
    """Items that wait, or whose worker let the lease run out, when nothing of the layers before is open."""
    below = job_items.alias("below")
    waits = exists().where(
        below.c.job_id == job_items.c.job_id,
        below.c.layer < job_items.c.layer,
        below.c.state.in_((ItemState.QUEUED, ItemState.RUNNING)),
    )
    is_free = or_(
        and_(job_items.c.state == ItemState.QUEUED, job_items.c.not_before <= at),
        and_(job_items.c.state == ItemState.RUNNING, job_items.c.lease_until <= at),
    )
    return wanted.join(jobs, jobs.c.id == job_items.c.job_id).where(is_free, OPEN_JOB, ~waits)


def _at(place: Place) -> ColumnElement[bool]:
    return tuple_(*_KEY) == tuple_(place.job, place.layer, place.number)
