"""What is told of one pool: its replicas over the coming hours, bells, shortages, and what its lead comes from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from gateway.domain.replica_life import ReplicaLife, life_of
from router.fleet.domain.demand import Booking, PoolName, current, demand, seats_of
from router.fleet.domain.past_starts import measured_start_s
from router.fleet.domain.pool_book import Floor, PoolBook, Round
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.steps import Block, Steps, highest
from router.fleet.domain.timeline import Lead, Shortage, lead, need, replicas_for, shortages, wanted

MOST_STEPS = 2_000


class LeadSource(StrEnum):
    """What decides how long before a bell a replica is wanted."""

    CONFIGURED = "configured"
    MEASURED = "measured"
    ASSUMED = "assumed"
    """The time of a start that is set, as long as too few starts were measured."""


@dataclass(frozen=True, slots=True)
class LeadInForce:
    lead: Lead
    source: LeadSource
    measured_s: float | None
    """The 95th percentile of the starts that went warm; None: too few of them."""
    starts: int
    """How many went warm, of those that are kept."""


@dataclass(frozen=True, slots=True)
class Step:
    """What holds from a moment until the next step."""

    at: float
    seats: int
    needs: int
    """Replicas that the seats take, however many the pool may have."""
    wanted: int


@dataclass(frozen=True, slots=True)
class Bell:
    at: float
    needs: int
    ready: int | None
    """None: nobody looks after the pool, so nobody knows."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time that is told of: a while back, and as far ahead as was asked."""

    since: float
    now: float
    until: float
    fresh_s: float = 60.0
    """A fleet whose last round is older than this is looked after by nobody."""


@dataclass(frozen=True, slots=True)
class PoolOutlook:
    pool: PoolName
    lead: LeadInForce
    steps: Sequence[Step]
    shortages: Sequence[Shortage]
    classes: Sequence[Booking]
    """Those that are still to come or run, soonest first."""
    next_bell: Bell | None
    floor: Floor | None
    replicas: Sequence[ReplicaLife]
    """Oldest first."""
    last_round: Round | None
    is_looked_after: bool


def outlook(
    book: PoolBook, rules: PoolRules, bookings: Iterable[Booking], last_round: Round | None, window: Window
) -> PoolOutlook:
    listed = sorted(
        (booking for booking in current(bookings) if booking.pool == book.pool), key=lambda booking: booking.begins
    )
    seats = demand(listed, book.pool)
    ahead = lead_in_force(book, rules)
    floor = book.floor if book.floor is not None and book.floor.at(window.now) else None
    planned = _with_floor(wanted(need(seats, rules), rules, ahead.lead), floor, rules, window.now)
    is_fresh = last_round is not None and is_current(last_round, window)
    return PoolOutlook(
        pool=book.pool,
        lead=ahead,
        steps=_steps(seats, planned, rules, window),
        shortages=[each for each in shortages(seats, rules) if each.ends > window.now and each.begins < window.until],
        classes=[booking for booking in listed if booking.ends > window.now and booking.begins < window.until],
        next_bell=_next_bell(listed, seats, rules, window, last_round if is_fresh else None),
        floor=floor,
        replicas=[
            life_of(record, start_s=rules.longest_start_s)
            for record in sorted(book.records.values(), key=lambda record: (record.ordered, record.id))
        ],
        last_round=last_round,
        is_looked_after=is_fresh,
    )


def is_current(last_round: Round, window: Window) -> bool:
    return window.now - last_round.at <= window.fresh_s


def lead_in_force(book: PoolBook, rules: PoolRules) -> LeadInForce:
    measured = measured_start_s(book.starts)
    ahead = lead(rules, measured)
    if rules.lead_s >= ahead.last_s:
        source = LeadSource.CONFIGURED
    else:
        source = LeadSource.ASSUMED if measured is None else LeadSource.MEASURED
    return LeadInForce(ahead, source, measured, sum(start.went_warm for start in book.starts))


def _with_floor(planned: Steps, floor: Floor | None, rules: PoolRules, now: float) -> Steps:
    if floor is None:
        return planned
    ends = inf if floor.until is None else floor.until
    return highest([*planned.blocks(), Block(now, ends, min(rules.maximum, floor.replicas))])


def _steps(seats: Steps, planned: Steps, rules: PoolRules, window: Window) -> Sequence[Step]:
    moments = {moment for steps in (seats, planned) for moment, _ in steps.changes}
    inside = sorted(moment for moment in moments if window.since < moment < window.until)
    return [
        Step(at, seats.at(at), replicas_for(seats.at(at), rules), planned.at(at))
        for at in (window.since, *inside[: MOST_STEPS - 1])
    ]


def _next_bell(
    listed: Iterable[Booking], seats: Steps, rules: PoolRules, window: Window, fresh: Round | None
) -> Bell | None:
    bells = (each.begins for each in listed if window.now < each.begins < window.until and seats_of(each))
    at = next(bells, None)
    if at is None:
        return None
    return Bell(at, replicas_for(seats.at(at), rules), None if fresh is None else fresh.ready)
