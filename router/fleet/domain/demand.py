"""What the calendar asks of a pool: seats over time.

A seat is promised, so all of them are counted, whoever comes. Who is expected beyond the seats comes as a walk-in:
without a watermark walk-ins never wait, so they are counted as far as they are expected; with one they wait while the
drill is busy, which is what the watermark is for, and are not counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NewType

from router.fleet.domain.steps import Block, Steps, summed

BookingId = NewType("BookingId", str)
PoolName = NewType("PoolName", str)


@dataclass(frozen=True, slots=True)
class Booking:
    """One class in the calendar, as a pool sees it."""

    id: BookingId
    pool: PoolName
    begins: float
    ends: float
    expected: int
    seats: int | None = None
    """None: as many as are expected."""
    walk_ins: int = 0
    """How many may come beyond the seats."""
    turns_in_flight: int | None = None
    """The watermark above which walk-ins wait; None: they never do."""
    is_cancelled: bool = False
    version: int = 1
    """A booking that was moved has a higher one than it had before."""


def current(bookings: Iterable[Booking]) -> tuple[Booking, ...]:
    """Each booking once, as it was last changed; without those that were cancelled."""
    latest: dict[BookingId, Booking] = {}
    for booking in bookings:
        known = latest.get(booking.id)
        if known is None or known.version < booking.version:
            latest[booking.id] = booking
    return tuple(booking for booking in latest.values() if not booking.is_cancelled)


def seats_of(booking: Booking) -> int:
    """The sessions to be ready for at its bell."""
    if booking.seats is None:
        return booking.expected
    if booking.turns_in_flight is not None:
        return booking.seats
    return booking.seats + min(booking.walk_ins, max(0, booking.expected - booking.seats))


def demand(bookings: Iterable[Booking], pool: PoolName) -> Steps:
    """Seats over time, of all bookings of the pool together."""
    return summed(
        Block(booking.begins, booking.ends, seats_of(booking)) for booking in current(bookings) if booking.pool == pool
    )
