"""The classes of all tenants as bookings of the pools that serve them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from typing_extensions import override

from router.fleet.domain.demand import Booking, BookingId, PoolName
from router.fleet.errors import CalendarUnavailable
from router.fleet.ports import Calendar
from sessions.domain.class_calendar import TimedClass
from sessions.domain.drill import DrillState
from sessions.domain.tiers import Offer
from sessions.drill_ports import ClassCalendar
from sessions.errors import RecordsUnavailable

_EARLIEST = datetime(1, 1, 2, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 30, tzinfo=UTC).timestamp()


class DrillCalendar(Calendar):
    def __init__(self, *, classes: ClassCalendar, offer: Offer) -> None:
        self._classes = classes
        self._offer = offer

    @override
    async def bookings(self, *, since: float, until: float) -> Sequence[Booking]:
        try:
            found = await self._classes.between(_moment(since), _moment(until))
        except RecordsUnavailable as error:
            raise CalendarUnavailable(str(error)) from error
        return [booking_of(each, self._offer) for each in found]


def booking_of(timed: TimedClass, offer: Offer) -> Booking:
    drill, plan = timed.drill, timed.drill.plan
    return Booking(
        id=BookingId(str(drill.id)),
        pool=PoolName(timed.wishes.model(offer)),
        begins=plan.starts_at.timestamp(),
        ends=plan.ends_at.timestamp(),
        expected=plan.expected_trainees,
        seats=plan.seats,
        walk_ins=plan.walk_ins,
        turns_in_flight=plan.turns_in_flight,
        is_cancelled=drill.state is not DrillState.SCHEDULED,
        version=drill.version,
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, _EARLIEST), _LATEST), UTC)
