"""What surrounds a controller that looks after a single class: its calendar, nothing to warm up, and who is alarmed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from router.fleet.domain.demand import Booking, PoolName
from router.fleet.domain.scaling import Alert
from router.fleet.domain.warmth import Prefix
from router.fleet.ports import Alarm, Calendar, Prefixes


@dataclass
class OneClass(Calendar, Prefixes, Alarm):
    booking: Booking
    told: list[Alert] = field(default_factory=list)

    @override
    async def bookings(self, *, since: float, until: float) -> Sequence[Booking]:
        return [self.booking]

    @override
    async def of(self, pool: PoolName, bookings: Sequence[Booking]) -> Sequence[Prefix]:
        return ()

    @override
    async def short(self, pool: PoolName, alert: Alert) -> None:
        self.told.append(alert)

    @override
    async def over(self, pool: PoolName, alert: Alert) -> None: ...
