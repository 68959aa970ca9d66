"""Jobs on dictionaries, with the same promises; for tests and for trying things out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from typing_extensions import override

from sessions.domain.job import (
    Again,
    Claim,
    Ended,
    Item,
    ItemKind,
    ItemPlan,
    ItemState,
    Job,
    JobId,
    JobState,
    Place,
    WorkerId,
    recounted,
)
from sessions.domain.page import Cursor, Page
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import AccountId, TenantId
from sessions.errors import IdempotencyKeyReused, TooManyJobs
from sessions.job_ports import JobBook, JobQueue


@dataclass(slots=True)
class _Row:
    item: Item
    not_before: datetime
    owner: WorkerId | None = None
    until: datetime | None = None

    def is_free(self, at: datetime) -> bool:
        if self.item.state is ItemState.QUEUED:
            return self.not_before <= at
        return self.item.state is ItemState.RUNNING and self.until is not None and self.until <= at

    def end(self, state: ItemState, at: datetime, ended: Ended | None = None) -> None:
        self.owner = self.until = None
        answer, error = (None, None) if ended is None else (ended.answer, ended.error)
        self.item = replace(self.item, state=state, answer=answer, error=error, ended_at=at)


@dataclass(slots=True)
class _Stored:
    job: Job
    rows: dict[tuple[int, int], _Row]

    @property
    def now(self) -> Job:
        return replace(self.job, layers=recounted([row.item for row in self.rows.values()]))

    @property
    def open_rows(self) -> list[_Row]:
        return [row for row in self.rows.values() if row.item.state.is_open]

    def is_due(self, row: _Row) -> bool:
        """Whether nothing of the layers before is open."""
        return not any(other.item.plan.layer < row.item.plan.layer for other in self.open_rows)


@dataclass(slots=True)
class MemoryJobs(JobBook, JobQueue):
    """Nothing here awaits, so every method is one step."""

    _jobs: dict[JobId, _Stored] = field(default_factory=dict)
    _keys: dict[tuple[TenantId, AccountId, str], tuple[str, JobId]] = field(default_factory=dict)
    _served: dict[TenantId, datetime] = field(default_factory=dict)

    @override
    async def add(self, job: Job, plans: Sequence[ItemPlan], idempotency: IdempotencyKey | None, *, limit: int) -> Job:
        if idempotency is not None:
            earlier = await self.earlier(job.tenant, job.created_by, idempotency)
            if earlier is not None:
                return earlier
        if sum(each.job.tenant == job.tenant and not each.job.state.is_over for each in self._jobs.values()) >= limit:
            raise TooManyJobs(limit)
        if idempotency is not None:
            self._keys[job.tenant, job.created_by, idempotency.key] = idempotency.digest, job.id
        rows = {(plan.layer, plan.number): _Row(Item(plan), job.created_at) for plan in plans}
        self._jobs[job.id] = _Stored(job, rows)
        self._served.setdefault(job.tenant, job.created_at)
        return self._jobs[job.id].now

    @override
    async def earlier(self, tenant: TenantId, account: AccountId, idempotency: IdempotencyKey) -> Job | None:
        if (tenant, account, idempotency.key) not in self._keys:
            return None
        digest, job = self._keys[tenant, account, idempotency.key]
        if digest != idempotency.digest:
            raise IdempotencyKeyReused
        return self._jobs[job].now

    @override
    async def get(self, tenant: TenantId, job: JobId) -> Job | None:
        stored = self._stored(tenant, job)
        return None if stored is None else stored.now

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Job]:
        mine = [stored.now for stored in self._jobs.values() if stored.job.tenant == tenant]
        rest = sorted(
            (job for job in mine if after is None or (job.created_at, job.id) < (after.at, after.id)),
            key=lambda job: (job.created_at, job.id),
            reverse=True,
        )
        shown = tuple(rest[:limit])
        return Page(shown, Cursor(shown[-1].created_at, shown[-1].id) if len(rest) > limit else None)

    @override
    async def questions(self, tenant: TenantId, job: JobId, *, limit: int, after: int = 0) -> Sequence[Item]:
        stored = self._stored(tenant, job)
        rows = () if stored is None else stored.rows.values()
        found = [row.item for row in rows if row.item.plan.kind is ItemKind.QUESTION and row.item.plan.number > after]
        return sorted(found, key=lambda item: item.plan.number)[:limit]

    @override
    async def cancel(self, tenant: TenantId, job: JobId, *, at: datetime) -> Job | None:
        stored = self._stored(tenant, job)
        if stored is None:
            return None
        if not stored.job.state.is_over:
            for row in stored.open_rows:
                row.end(ItemState.CANCELLED, at)
            stored.job = replace(stored.job, state=JobState.CANCELLED, ended_at=at)
        return stored.now

    @override
    async def claim(self, owner: WorkerId, *, at: datetime, until: datetime, running: int) -> Claim | None:
        for tenant in sorted(self._served, key=lambda each: (self._served[each], each)):
            found = None if self._under_way(tenant, at) >= running else self._next(tenant, at)
            if found is not None:
                self._served[tenant] = at
                return _claimed(*found, owner, at, until)
        return None

    @override
    async def renew(self, owner: WorkerId, places: Sequence[Place], *, until: datetime) -> Sequence[Place]:
        kept = [place for place in places if self._jobs[place.job].rows[place.layer, place.number].owner == owner]
        for place in kept:
            self._jobs[place.job].rows[place.layer, place.number].until = until
        return kept

    @override
    async def settle(self, claim: Claim, what: Again | Ended, *, at: datetime) -> bool:
        stored = self._jobs[claim.place.job]
        row = stored.rows[claim.place.layer, claim.place.number]
        if row.owner != claim.owner or row.item.attempts != claim.attempt:
            return False
        if isinstance(what, Again):
            row.owner = row.until = None
            attempts = claim.attempt if what.counts else claim.attempt - 1
            row.item, row.not_before = replace(row.item, state=ItemState.QUEUED, attempts=attempts), what.not_before
            return True
        row.end(ItemState.FAILED if what.answer is None else ItemState.COMPLETED, at, what)
        if what.ends_job:
            for other in stored.open_rows:
                other.end(ItemState.FAILED, at, what)
            stored.job = replace(stored.job, state=JobState.FAILED, ended_at=at, error=what.error)
        elif not stored.open_rows:
            stored.job = replace(stored.job, state=JobState.COMPLETED, ended_at=at)
        return True

    @override
    async def layer(self, job: JobId, layer: int, *, first: int, last: int) -> Sequence[Item]:
        rows = self._jobs[job].rows
        return [rows[key].item for key in sorted(rows) if key[0] == layer and first <= key[1] <= last]

    def _stored(self, tenant: TenantId, job: JobId) -> _Stored | None:
        stored = self._jobs.get(job)
        return stored if stored is not None and stored.job.tenant == tenant else None

    def _under_way(self, tenant: TenantId, at: datetime) -> int:
        return sum(
            row.until is not None and row.until > at
            for stored in self._jobs.values()
            if stored.job.tenant == tenant
            for row in stored.rows.values()
        )

    def _next(self, tenant: TenantId, at: datetime) -> tuple[_Stored, _Row] | None:
        mine = [stored for stored in self._jobs.values() if stored.job.tenant == tenant]
        for stored in sorted(mine, key=lambda each: (each.job.created_at, each.job.id)):
            for key in sorted(stored.rows):
                row = stored.rows[key]
                if row.is_free(at) and stored.is_due(row):
                    return stored, row
        return None


def _claimed(stored: _Stored, row: _Row, owner: WorkerId, at: datetime, until: datetime) -> Claim:
    item = row.item
    started = item.started_at or at
    row.item = replace(item, state=ItemState.RUNNING, attempts=item.attempts + 1, started_at=started)
    row.owner, row.until = owner, until
    if stored.job.state is JobState.QUEUED:
        stored.job = replace(stored.job, state=JobState.RUNNING, started_at=at)
    job = stored.job
    return Claim(
        place=Place(job.id, item.plan.layer, item.plan.number),
        tenant=job.tenant,
        base=job.base,
        document=job.document,
        asked_by=job.created_by,
        plan=item.plan,
        attempt=row.item.attempts,
        owner=owner,
        until=until,
    )
