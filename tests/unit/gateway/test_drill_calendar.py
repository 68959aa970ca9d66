"""Classes as bookings of pools."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import inf

import pytest
from typing_extensions import override

from gateway.drill_calendar import DrillCalendar
from router.fleet.domain.demand import Booking
from router.fleet.errors import CalendarUnavailable
from sessions.domain.class_calendar import TimedClass, Wishes
from sessions.domain.drill import DrillEvent, ended
from sessions.domain.scenario import ScenarioId
from sessions.domain.tiers import Offer, Tier
from sessions.domain.viewer import TenantId
from sessions.drill_ports import ClassCalendar
from sessions.errors import RecordsUnavailable
from tests.support.drill_world import drill
from tests.support.records_world import NOON

OFFER = Offer("large", ("large", "small"))
LARGE, SMALL = Wishes(Tier.ROLE_PLAY, {}, {}), Wishes(Tier.ROLE_PLAY, {Tier.ROLE_PLAY: "small"}, {})


class Told(ClassCalendar):
    """Classes as they are put in; None: the database is away."""

    def __init__(self, classes: Sequence[TimedClass] | None) -> None:
        self._classes = classes
        self.asked: list[tuple[datetime, datetime]] = []

    @override
    async def between(self, since: datetime, until: datetime) -> Sequence[TimedClass]:
        self.asked.append((since, until))
        if self._classes is None:
            raise RecordsUnavailable("no database")
        return self._classes

    @override
    async def wishes(self, tenant: TenantId, of: Sequence[ScenarioId]) -> Mapping[ScenarioId, Wishes]:
        raise NotImplementedError


async def test_a_class_is_a_booking_of_the_pool_that_serves_it() -> None:
    over = ended(drill("over"), DrillEvent.CANCEL)
    gone = ended(drill("gone"), DrillEvent.ARCHIVE)
    told = Told([TimedClass(drill(), LARGE), TimedClass(over, SMALL), TimedClass(gone, SMALL)])
    first, second, third = await DrillCalendar(classes=told, offer=OFFER).bookings(since=0, until=1)
    assert isinstance(first, Booking)
    assert (first.id, first.pool) == (str(drill().id), "large")
    assert (first.begins, first.ends) == (NOON.timestamp(), NOON.timestamp() + 7200)
    assert (first.expected, first.seats, first.walk_ins, first.turns_in_flight) == (30, 25, 5, 20)
    assert (first.is_cancelled, first.version) == (False, 1)
    assert (second.pool, second.is_cancelled, second.version) == ("small", True, 2)
    assert third.is_cancelled


async def test_any_span_may_be_asked_for() -> None:
    told = Told([])
    calendar = DrillCalendar(classes=told, offer=OFFER)
    await calendar.bookings(since=-inf, until=inf)
    await calendar.bookings(since=NOON.timestamp(), until=NOON.timestamp() + 60)
    (whole, (since, until)) = told.asked
    assert (whole[0].year, whole[1].year) == (1, 9999)
    assert (since, (until - since).total_seconds()) == (NOON, 60)


async def test_a_calendar_that_cannot_be_read_is_told_as_that() -> None:
    with pytest.raises(CalendarUnavailable, match="no database"):
        await DrillCalendar(classes=Told(None), offer=OFFER).bookings(since=0, until=1)
