"""Where jobs are kept: a book for those who ask, a queue for those who answer.

Every method is one transaction and raises `RecordsUnavailable` when the database cannot be asked.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sessions.domain.citation import Background, KnowledgeBaseId
from sessions.domain.job import Again, Claim, Ended, Item, ItemPlan, Job, JobId, Place, WorkerId
from sessions.domain.page import Cursor, Page
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import AccountId, TenantId
from sessions.moderation_ports import Rules


class AskedJobs(Protocol):
    """Where new jobs are written, each once however often it is asked for."""

    async def add(self, job: Job, plans: Sequence[ItemPlan], idempotency: IdempotencyKey | None, *, limit: int) -> Job:
        """Write a new job with its items; with a key that this account has used before, write nothing and return the
        earlier job.

        Raises `IdempotencyKeyReused` when that was asked for with other content, `TooManyJobs` when the tenant has
        `limit` jobs that are not over. Safe when two do it at once.
        """

    async def earlier(self, tenant: TenantId, account: AccountId, idempotency: IdempotencyKey) -> Job | None:
        """The job that this account has asked for with this key. Raises `IdempotencyKeyReused` like `add`."""


class JobBook(AskedJobs, Protocol):
    """A tenant's jobs; another tenant's look like none."""

    async def get(self, tenant: TenantId, job: JobId) -> Job | None: ...

    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Job]:
        """Newest first."""

    async def questions(self, tenant: TenantId, job: JobId, *, limit: int, after: int = 0) -> Sequence[Item]:
        """The questions behind number `after`, by number."""

    async def cancel(self, tenant: TenantId, job: JobId, *, at: datetime) -> Job | None:
        """End whatever has not ended; a job that is over stays as it is."""


class JobQueue(Protocol):
    """What is to be generated, over all tenants."""

    async def claim(self, owner: WorkerId, *, at: datetime, until: datetime, running: int) -> Claim | None:
        """Take an item that waits, or one whose worker let its lease run out, for this worker alone.

        Tenants take turns; none has more than `running` items under way. None: there is nothing to do now, as far as
        can be told without waiting for another worker.
        """

    async def renew(self, owner: WorkerId, places: Sequence[Place], *, until: datetime) -> Sequence[Place]:
        """Keep these items; returns those that are still this worker's. What is missing was cancelled, or taken by
        another. An item that is not named runs out, so that a claim whose answer was lost is not held for ever."""

    async def settle(self, claim: Claim, what: Again | Ended, *, at: datetime) -> bool:
        """Write what became of a claim; False, and nothing written, when the item is no longer this worker's.

        The job is over with its last item.
        """

    async def layer(self, job: JobId, layer: int, *, first: int, last: int) -> Sequence[Item]:
        """Items of one layer by number, both ends included."""


class SureSearch(Protocol):
    """Finds what a question is answered from, when nobody waits for it."""

    async def find_surely(
        self, tenant: TenantId, base: KnowledgeBaseId, question: str, *, budget_tokens: int, rules: Rules
    ) -> Background:
        """The best pieces that fit into the budget together, of the base as it is and as these rules let it be shown.
        That nothing is found means that nothing is there: an answer would say so, and be wrong. Raises
        `RecordsUnavailable` when that cannot be told."""
