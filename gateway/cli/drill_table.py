"""Drills on a terminal."""

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo

import typer
from rich.table import Table

from gateway.cli.drill_view import console
from gateway.cli.drill_when import both_clocks, clock, zone
from gateway.cli.drill_wire import DrillView, ImportView, SeriesView
from gateway.cli.folding_table import folding_table
from gateway.wiring.clock import SystemClock

_COUNTS = ("added", "changed", "cancelled", "unchanged", "left_alone")


def tell(told: DrillView | SeriesView, timezone: str | None, *, as_json: bool = False) -> None:
    """A drill in some lines, a series as a table with what is amiss below it; a series by default in its own zone."""
    if as_json:
        typer.echo(told.model_dump_json(indent=2))
        return
    screen, in_zone = console(), zone(timezone)
    if isinstance(told, DrillView):
        for line in drill_lines(told, in_zone):
            screen.print(line, markup=False, soft_wrap=True)
        if told.ends_at <= SystemClock().now():
            screen.print("  it is over", markup=False)
        return
    screen.print(f"series {told.id}: {told.cron} in {told.timezone}", markup=False, soft_wrap=True)
    in_zone = in_zone or zone(told.timezone)
    screen.print(drill_table(told.drills, in_zone), markup=False)
    for drill in told.drills:
        if drill.strain is not None and drill.strain.text:
            begins = clock(drill.starts_at, in_zone)
            screen.print(f"warning: {begins}: {drill.strain.text}", markup=False, soft_wrap=True)


def drill_table(drills: Iterable[DrillView], zone: tzinfo | None) -> Table:
    table = folding_table("drill", "name", "begins", "UTC", "minutes", "trainees", "state")
    for drill in drills:
        table.add_row(
            drill.id,
            drill.name,
            clock(drill.starts_at, zone),
            f"{drill.starts_at.astimezone(UTC):%m-%d %H:%M}",
            str(_minutes(drill)),
            str(drill.expected_trainees),
            drill.state,
        )
    return table


def drill_lines(drill: DrillView, zone: tzinfo | None) -> Iterator[str]:
    """All that is to be said of one."""
    yield f"{drill.id}  {drill.name} ({drill.state})"
    yield f"  begins {both_clocks(drill.starts_at, zone)}, {_minutes(drill)} minutes"
    seats = "a seat for everybody" if drill.seats is None else f"{drill.seats} seats, {drill.walk_ins} walk-ins"
    yield f"  {drill.expected_trainees} trainees expected, {seats}"
    if drill.series_id is not None:
        yield f"  one of the series {drill.series_id}"
    yield from strain_lines(drill)


def strain_lines(drill: DrillView) -> Iterator[str]:
    strain = drill.strain
    if strain is None:
        return
    yield f"  {strain.pool}: {strain.replicas_needed} replicas at that time, of {strain.replicas_allowed} at most"
    if strain.text:
        yield f"  warning: {strain.text}"
    for other in strain.overlaps:
        yield f"  at the same time: {other.name} ({other.id})"


def import_lines(told: ImportView, zone: tzinfo | None) -> Iterator[str]:
    for change in told.changes:
        text = f"; warning: {change.text}" if change.text else ""
        yield f"{change.change.replace('_', ' ')}: {change.name}, {both_clocks(change.starts_at, zone)}{text}"
    counts = [f"{count} {name.replace('_', ' ')}" for name in _COUNTS if (count := getattr(told, name))]
    yield f"{'would be done' if told.dry_run else 'done'}: {', '.join(counts) or 'nothing'}"


def _minutes(drill: DrillView) -> int:
    return round((drill.ends_at - drill.starts_at).total_seconds() / 60)
