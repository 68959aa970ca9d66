"""What the review of turns needs from outside."""

from typing import Protocol

from sessions.domain.review import Decision, ReviewFilter, ReviewInContext, ReviewPage, ReviewPlace
from sessions.domain.session import SessionId
from sessions.domain.viewer import TenantId


class Reviews(Protocol):
    """The tenant's turns in which moderation found something. Each method raises `RecordsUnavailable`."""

    async def page(
        self, tenant: TenantId, which: ReviewFilter, *, limit: int, after: ReviewPlace | None = None
    ) -> ReviewPage:
        """The newest first; turns that end meanwhile shift nothing."""

    async def get(self, tenant: TenantId, session: SessionId, turn: int) -> ReviewInContext | None: ...

    async def decide(self, tenant: TenantId, decision: Decision) -> Decision:
        """Write it with its line of the audit trail, unless there is one already; what comes back is the one that is
        kept. Of two at once one is written.

        Raises `ReviewNotFound`.
        """

    async def done(self, tenant: TenantId, decision: Decision) -> None:
        """Write down which version of the list has what the decision asked for."""
