"""The state and the plan of the fleet, as they stand on a terminal; what nobody knows is a question mark."""

from collections.abc import Iterator
from datetime import datetime, tzinfo
from itertools import pairwise

from rich.table import Table

from gateway.cli.fleet_plan_chart import BELL, MISSING, WANTED, Moment, Scale, chart
from gateway.cli.fleet_plan_wire import (
    BellView,
    FleetPlanView,
    FloorView,
    LeadView,
    PlannedPoolView,
    PlannedReplicaView,
    ShortageView,
)
from gateway.cli.folding_table import folding_table
from gateway.cli.printable import printable

UNKNOWN = "?"
MOST_CLASSES = 20

_MINUTE, _HOUR = 60, 3600


def is_well(plan: FleetPlanView) -> bool:
    """Whether every pool that is to be looked after is, and has what its seats need."""
    return not any(_is_neglected(pool) or _alert(pool) for pool in plan.pools)


def state_lines(plan: FleetPlanView) -> Iterator[str]:
    """Who looks after the fleet, and what is in no pool."""
    if not plan.pools:
        yield "no pools are configured: DRILLYARD_FLEET__POOLS or DRILLYARD_POOLS_FILE names them"
    elif not any(map(_is_carried_out, plan.pools)):
        yield "no pool has a host: the plan is shown, and nobody carries it out"
    elif plan.is_looked_after and plan.last_round_at is not None:
        yield f"{plan.leader} looks after the fleet; its last round was {_since(plan, plan.last_round_at)} ago"
    elif plan.last_round_at is not None:
        was = f"the last round was {_since(plan, plan.last_round_at)} ago, of {plan.leader}"
        yield f"NOBODY LOOKS AFTER THE FLEET: {was}; start `drillyard fleet run`"
    else:
        yield "NOBODY LOOKS AFTER THE FLEET: there was no round yet; start `drillyard fleet run`"
    for each in plan.unpooled:
        classes = "1 class wants" if each.classes == 1 else f"{each.classes} classes want"
        yield f"{classes} {printable(each.model)}, which has no pool: no replica is started for it"


def pools_table(plan: FleetPlanView, zone: tzinfo | None = None) -> Table:
    table = folding_table("pool", "wanted", "ready", "present", "at most", "next bell", "remarks")
    for pool in plan.pools:
        last = pool.last_round if pool.is_looked_after else None
        table.add_row(
            printable(pool.model),
            UNKNOWN if last is None or last.wanted is None else str(last.wanted),
            UNKNOWN if last is None else str(last.ready),
            UNKNOWN if last is None else str(last.present),
            str(pool.maximum),
            "-" if pool.next_bell is None else bell_text(pool.next_bell),
            "; ".join(_remarks(pool, plan, zone)),
        )
    return table


def replicas_table(plan: FleetPlanView) -> Table:
    table = folding_table("replica", "pool", "state", "for", "waits for", "given up in", "first token", "remarks")
    for pool in plan.pools:
        for replica in pool.replicas:
            table.add_row(
                printable(replica.id),
                printable(pool.model),
                replica.state,
                _since(plan, replica.since),
                replica.waits_for or "-",
                "-" if replica.deadline is None else span_text((replica.deadline - plan.at).total_seconds()),
                _first_token(replica),
                printable(replica.failure),
            )
    return table


def plan_lines(pool: PlannedPoolView, plan: FleetPlanView, width: int, zone: tzinfo | None = None) -> Iterator[str]:
    """One pool: its lead, the chart, its classes and what is short."""
    yield f"{printable(pool.model)}: {pool.seats_per_replica} seats a replica, {_bounds(pool)}; {lead_text(pool.lead)}"
    moments = [Moment(step.at, step.needs, step.wanted) for step in pool.steps]
    bells = [later.at for before, later in pairwise(pool.steps) if later.seats > before.seats]
    scale = Scale(plan.since, plan.until, max(20, width - len(str(pool.maximum)) - 4), zone)
    yield from chart(moments, scale, allowed=pool.maximum, bells=bells, now=plan.at)
    yield f"{WANTED} wanted  {MISSING} needed, and more than the pool allows  {BELL} bell"
    yield from _classes(pool, zone)
    yield from (f"SHORT: {shortage_text(each, zone)}" for each in pool.shortages)
    if pool.floor is not None:
        yield floor_text(pool.floor, zone)


def bell_text(bell: BellView) -> str:
    ready = UNKNOWN if bell.ready is None else bell.ready
    return f"{ready} of {bell.needs} ready, {clock_text(bell.in_s)} left"


def lead_text(lead: LeadView) -> str:
    ahead = f"wanted {span_text(lead.ahead_s)} before a bell"
    match lead.source:
        case "measured":
            slowest = span_text(lead.measured_p95_s or 0)
            return f"{ahead}, since 95 of 100 starts take up to {slowest} ({lead.starts} measured)"
        case "assumed":
            return f"{ahead}, since a start is taken to last {span_text(lead.start_s)} ({lead.starts} measured)"
        case _:
            measured = lead.measured_p95_s
            known = "" if measured is None else f"; starts take up to {span_text(measured)} ({lead.starts} measured)"
            return f"{ahead}, as set{known}"


def shortage_text(shortage: ShortageView, zone: tzinfo | None = None) -> str:
    return f"{_time(shortage.starts_at, zone)} to {_time(shortage.ends_at, zone)}: {shortage.text}"


def floor_text(floor: FloorView, zone: tzinfo | None = None) -> str:
    until = "until it is taken back" if floor.until is None else f"until {_time(floor.until, zone)}"
    return f"at least {floor.replicas} {until}" + (f" ({printable(floor.reason)})" if floor.reason else "")


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds."""
    left = max(0, round(seconds))
    return f"{left // _HOUR:02}:{left % _HOUR // _MINUTE:02}:{left % _MINUTE:02}"


def span_text(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return f"{max(0.0, seconds):.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


def _remarks(pool: PlannedPoolView, plan: FleetPlanView, zone: tzinfo | None) -> Iterator[str]:
    alert = _alert(pool)
    if alert:
        yield f"SHORT: {alert}"
    if _is_neglected(pool) and plan.is_looked_after:
        yield "NOBODY LOOKS AFTER IT"
    yield from _in_class(pool, plan, zone)
    wait = printable(pool.last_round.wait) if pool.last_round is not None and pool.is_looked_after else ""
    if wait:
        yield wait
    if not _is_carried_out(pool):
        yield "it has no host: the plan is only shown"
    elif pool.dry_run and not wait.startswith("dry run"):
        yield "dry run: nothing is started or stopped"
    if pool.floor is not None:
        yield floor_text(pool.floor, zone)
    yield from _kept_for_sessions(pool)
    if pool.shortages:
        more = len(pool.shortages) - 1
        yield shortage_text(pool.shortages[0], zone) + (f" (and {more} more, see `fleet plan`)" if more else "")


def _in_class(pool: PlannedPoolView, plan: FleetPlanView, zone: tzinfo | None) -> Iterator[str]:
    """What the bells behind us still ask for."""
    begun = [step for step in pool.steps if step.at <= plan.at]
    if begun and begun[-1].seats:
        end = next((step.at for step in pool.steps if step.at > plan.at and not step.seats), None)
        until = "" if end is None else f" until {_time(end, zone)}"
        yield f"{begun[-1].seats} seats in class{until}"


def _kept_for_sessions(pool: PlannedPoolView) -> Iterator[str]:
    """What a round wants beyond calendar, minimum and floor is there for sessions past the end of their class."""
    last = pool.last_round if pool.is_looked_after else None
    planned = [step.wanted for step in pool.steps if last is not None and step.at <= last.at]
    floor = pool.floor.replicas if pool.floor is not None else 0
    if last is not None and last.wanted is not None and planned:
        kept = last.wanted - max(planned[-1], pool.minimum, floor)
        if kept > 0:
            yield f"{kept} kept for sessions that were not closed"


def _alert(pool: PlannedPoolView) -> str:
    """One that was told long ago stands for nothing: then nobody looks after the pool, which is worse."""
    return (pool.last_round.alert or "") if pool.last_round is not None and pool.is_looked_after else ""


def _is_neglected(pool: PlannedPoolView) -> bool:
    return _is_carried_out(pool) and not pool.is_looked_after


def _is_carried_out(pool: PlannedPoolView) -> bool:
    """The controller may know of a host that the gateway was not told."""
    return pool.host is not None or pool.last_round is not None


def _bounds(pool: PlannedPoolView) -> str:
    reserve = f", {pool.reserve} in reserve" if pool.reserve else ""
    return f"{pool.minimum} to {pool.maximum} replicas{reserve}"


def _classes(pool: PlannedPoolView, zone: tzinfo | None) -> Iterator[str]:
    for each in pool.classes[:MOST_CLASSES]:
        when = f"{_time(each.starts_at, zone)} to {_time(each.ends_at, zone)}"
        yield f"{when}: {printable(each.name)}, {each.seats} seats"
    if (more := len(pool.classes) - MOST_CLASSES) > 0:
        yield f"and {more} more of your classes"
    if pool.other_classes:
        yield (
            f"and {pool.other_classes} of other tenants"
            if pool.classes
            else f"{pool.other_classes} classes of other tenants"
        )


def _first_token(replica: PlannedReplicaView) -> str:
    """Of its warm-up: with nothing cached, and again."""
    report = replica.warm_report
    return "-" if report is None else f"{report.first_token_cold_ms:.0f} ms, warm {report.first_token_warm_ms:.0f} ms"


def _since(plan: FleetPlanView, moment: datetime) -> str:
    return span_text((plan.at - moment).total_seconds())


def _time(moment: datetime, zone: tzinfo | None) -> str:
    return f"{moment.astimezone(zone):%a %d %b %H:%M}"
