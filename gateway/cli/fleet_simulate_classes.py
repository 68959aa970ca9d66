"""The classes that a simulation plays: out of a file, of a running service, or an example."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from gateway.cli.example_week import example_week
from gateway.cli.failure import CommandFailed
from gateway.cli.fleet_plan_wire import FleetPlanView, PlannedPoolView
from gateway.cli.printable import printable
from router.fleet.domain.demand import Booking, BookingId, PoolName, seats_of
from sessions.domain.class_csv import read_csv
from sessions.domain.class_rows import ClassFault, ClassFile, ClassRow, RowDefaults, planned
from sessions.domain.scenario import ScenarioId
from sessions.errors import DrillInvalid

MOST_FAULTS = 20
MOST_TRAINEES = 200_000
LONGEST_DAYS = 92
DAY_S = 86_400.0
_POOL = PoolName("simulated")

IcalReader = Callable[[bytes, RowDefaults], Awaitable[ClassFile]]


@dataclass(frozen=True, slots=True)
class Classes:
    source: str
    """Where they come from, for people."""
    bookings: Sequence[Booking]
    notes: Sequence[str] = ()
    pool: PlannedPoolView | None = None
    """As the service that was asked has it."""

    def within(self, days: int) -> "Classes":
        """Those that begin within so many days from the first of them."""
        if not self.bookings:
            raise CommandFailed(f"there are no classes in {self.source}")
        last = min(booking.begins for booking in self.bookings) + days * DAY_S
        kept = [booking for booking in self.bookings if booking.begins < last]
        if sum(map(seats_of, kept)) > MOST_TRAINEES:
            raise CommandFailed(
                f"these are more than {MOST_TRAINEES} trainees",
                advice="take fewer classes with --days, or smaller ones",
            )
        if any(booking.ends - booking.begins > LONGEST_DAYS * DAY_S for booking in kept):
            raise CommandFailed(f"a class lasts longer than {LONGEST_DAYS} days, which would be played to its end")
        left = len(self.bookings) - len(kept)
        notes = [f"{left} classes begin later than {days} days after the first and are left out; see --days"]
        return Classes(self.source, kept, [*self.notes, *(notes if left else ())], self.pool)


def of_example(seed: int) -> Classes:
    return Classes("the example week", example_week(seed))


def of_file(path: Path, defaults: RowDefaults, ical: IcalReader) -> Classes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error
    is_ical = path.suffix.lower() in (".ics", ".ical") or raw.lstrip()[:15].upper() == b"BEGIN:VCALENDAR"
    found = asyncio.run(_awaited(ical(raw, defaults))) if is_ical else read_csv(raw, defaults)
    held = [row for row in found.rows if not row.is_cancelled]
    faults = [*found.faults, *_unheld(held)]
    if faults:
        told = [f"{printable(fault.place)}: {printable(fault.detail)}" for fault in faults[:MOST_FAULTS]]
        more = len(faults) - len(told)
        raise CommandFailed("\n".join([f"{path} cannot be played", *told, *([f"... and {more} more"] if more else [])]))
    return Classes(str(path), [_booking(number, row) for number, row in enumerate(held, 1)])


def of_service(plan: FleetPlanView, model: str | None) -> Classes:
    """The coming classes of one pool; those of other tenants are not told, and are said to be missing."""
    pool = _pool(plan.pools, model)
    since = plan.at.timestamp()
    notes = [f"{pool.other_classes} classes of other tenants are not shown to you and are left out"]
    return Classes(
        f"the coming classes of {pool.model}",
        [
            Booking(
                BookingId(f"{number} {printable(one.name)}"),
                PoolName(pool.model),
                one.starts_at.timestamp(),
                one.ends_at.timestamp(),
                one.seats,
            )
            for number, one in enumerate(pool.classes, 1)
            if one.starts_at.timestamp() > since
        ],
        notes if pool.other_classes else (),
        pool,
    )


def _pool(pools: Sequence[PlannedPoolView], model: str | None) -> PlannedPoolView:
    named = [pool for pool in pools if model in (None, pool.model)]
    if len(named) == 1:
        return named[0]
    known = ", ".join(printable(pool.model) for pool in pools) or "none"
    what = "the service has several pools" if model is None and pools else "the service has no such pool"
    raise CommandFailed(what, advice=f"name one by --pool; there are: {known}")


def _unheld(rows: Sequence[ClassRow]) -> Iterator[ClassFault]:
    """Those that a service would not take, and why."""
    for row in rows:
        try:
            planned(row, ScenarioId(UUID(int=0)))
        except DrillInvalid as invalid:
            yield ClassFault(f"{row.place}, {invalid.field}", invalid.detail)


def _booking(number: int, row: ClassRow) -> Booking:
    return Booking(
        BookingId(f"{number} {row.name}"),
        _POOL,
        row.starts_at.timestamp(),
        row.ends_at.timestamp(),
        row.expected_trainees,
        seats=row.seats,
        walk_ins=row.walk_ins,
        turns_in_flight=row.turns_in_flight,
    )


async def _awaited(reading: Awaitable[ClassFile]) -> ClassFile:
    return await reading
