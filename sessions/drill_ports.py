"""What drills and their seats need from outside."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from sessions.domain.class_calendar import TimedClass, Wishes
from sessions.domain.class_rows import ClassFile, RowDefaults
from sessions.domain.drill import Drill, DrillId, SeriesId
from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import ScenarioId
from sessions.domain.series import Series
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


class DrillBook(Protocol):
    """Many drills of a tenant at once. Each method raises `RecordsUnavailable`."""

    async def write(
        self, tenant: TenantId, *, added: Sequence[Drill] = (), advanced: Sequence[Drill] = (), of: Series | None = None
    ) -> None:
        """New drills and changed ones, and the new series that they are of, in one transaction.

        Raises `DrillMoved`, and writes nothing, when the `version` of a changed one is not one above the stored one, or
        a new one has the import key of another.
        """

    async def series(self, tenant: TenantId, series: SeriesId) -> tuple[Series, Sequence[Drill]] | None:
        """A series with its drills, by their start."""

    async def imported(self, tenant: TenantId, keys: Sequence[str]) -> Sequence[Drill]:
        """The drills that have one of these import keys."""

    async def to_come(self, tenant: TenantId, prefix: str, *, after: datetime) -> Sequence[Drill]:
        """The scheduled drills that start after the moment and whose import keys begin so."""

    async def held(
        self, tenant: TenantId, since: datetime, until: datetime, *, limit: int, after: Cursor | None = None
    ) -> Page[Drill]:
        """Those that touch the span, by their start."""


class ClassCalendar(Protocol):
    """The drills of all tenants. Each method raises `RecordsUnavailable`."""

    async def between(self, since: datetime, until: datetime) -> Sequence[TimedClass]:
        """Every drill that touches the span, in whatever state, by its start. Of very many only some thousands: those
        that are to be held before the others, and the earliest of them.
        """

    async def wishes(self, tenant: TenantId, of: Sequence[ScenarioId]) -> Mapping[ScenarioId, Wishes]:
        """What the tutors of these scenarios are asked for; one that is not there is left out."""


class ClassFileReader(Protocol):
    """Reads files that were written elsewhere, and may be made to harm whoever reads them."""

    async def read(self, raw: bytes, defaults: RowDefaults, *, now: datetime) -> ClassFile:
        """Never raises for what stands in it; what repeats without an end is read as far as a series may last."""


class Seats(Protocol):
    """The places for sessions that run: in their drill, or else in their tenant."""

    async def take(self, session: Session, drill: Drill | None) -> None:
        """Again for the same session is nothing. Raises whatever refusal the edge has for a place that is not free."""

    async def give_back(self, session: Session) -> None:
        """Nothing when it has none. Never raises."""
