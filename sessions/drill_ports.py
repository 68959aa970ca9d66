"""What drills and their seats need from outside."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from sessions.domain.class_calendar import TimedClass, Wishes
from sessions.domain.drill import Drill, DrillId
from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import ScenarioId
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


class ClassCalendar(Protocol):
    """The drills of all tenants. Each method raises `RecordsUnavailable`."""

    async def between(self, since: datetime, until: datetime) -> Sequence[TimedClass]:
        """Every drill that touches the span, in whatever state, by its start. Of very many only some thousands: those
        that are to be held before the others, and the earliest of them.
        """

    async def wishes(self, tenant: TenantId, of: Sequence[ScenarioId]) -> Mapping[ScenarioId, Wishes]:
        """What the tutors of these scenarios are asked for; one that is not there is left out."""


class Seats(Protocol):
    """The places for sessions that run: in their drill, or else in their tenant."""

    async def take(self, session: Session, drill: Drill | None) -> None:
        """Again for the same session is nothing. Raises whatever refusal the edge has for a place that is not free."""

    async def give_back(self, session: Session) -> None:
        """Nothing when it has none. Never raises."""
