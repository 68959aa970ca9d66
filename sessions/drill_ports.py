"""What drills and their seats need from outside."""

from typing import Protocol

from sessions.domain.drill import Drill, DrillId
from sessions.domain.page import Cursor, Page
from sessions.domain.session import Session
from sessions.domain.viewer import TenantId


class Drills(Protocol):
    """The tenant's drills. Each method raises `RecordsUnavailable`."""

    async def add(self, drill: Drill) -> None:
        """Write a new drill."""

    async def get(self, tenant: TenantId, drill: DrillId) -> Drill | None: ...

    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Drill]:
        """Newest first."""

    async def advance(self, drill: Drill) -> None:
        """Write plan and state of `drill`, whose `version` must be one above the stored one.

        Raises `DrillMoved`, and writes nothing, when the stored version is another.
        """


class Seats(Protocol):
    """The places for sessions that run: in their drill, or else in their tenant."""

    async def take(self, session: Session, drill: Drill | None) -> None:
        """Again for the same session is nothing. Raises whatever refusal the edge has for a place that is not free."""

    async def give_back(self, session: Session) -> None:
        """Nothing when it has none. Never raises."""
