"""A week of classes to try a plan on: 40 of them, in three time zones, over the night in which clocks change."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from router.fleet.domain.demand import Booking, BookingId, PoolName

POOL = PoolName("example")
MONDAY = datetime(2026, 3, 2)  # noqa: DTZ001 - each class adds its own zone
# In the mornings of one zone and the afternoons of the next, so that most classes meet others.
BELLS = {
    "Asia/Shanghai": ((10, 0), (15, 0), (15, 45)),
    "Europe/Berlin": ((8, 0), (9, 30), (14, 0), (15, 15)),
    "America/New_York": ((8, 0), (9, 30), (10, 0), (13, 15)),
}
# In New York the clocks are put forward in the night to this day: it has no hour from two to three.
SUNDAY = ((1, 30), (3, 15), (9, 0), (9, 30))


def moment(day: int, bell: tuple[int, int], zone: str) -> float:
    """The instant of a time on a wall."""
    return (MONDAY + timedelta(days=day, hours=bell[0], minutes=bell[1])).replace(tzinfo=ZoneInfo(zone)).timestamp()


def example_week(seed: int) -> Sequence[Booking]:
    """40 classes of 8 to 60 seats, 45 to 120 minutes long. Two of them are in the night of the change."""
    dice = Random(seed)  # noqa: S311 - an example
    zones = [zone for _ in range(12) for zone in BELLS]
    places = [(dice.randrange(4), dice.choice(BELLS[zone]), zone) for zone in zones]
    places += [(6, bell, "America/New_York") for bell in SUNDAY]
    return [
        Booking(
            BookingId(f"class-{number:02}"),
            POOL,
            begins,
            begins + dice.choice((45, 60, 90, 120)) * 60.0,
            dice.randint(8, 60),
        )
        for number, place in enumerate(places)
        for begins in [moment(*place)]
    ]
