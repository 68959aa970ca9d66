"""`drillyard fleet simulate`: plays a calendar of classes with the real controller over replicas that are figures."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from gateway.cli import fleet_simulate_options as options
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, operator_connection
from gateway.cli.drill_view import console
from gateway.cli.failure import CommandFailed
from gateway.cli.fleet_call import operator_client
from gateway.cli.fleet_plan_wire import FleetPlanView, PlannedPoolView
from gateway.cli.fleet_simulate_classes import Classes, of_example, of_file, of_service
from gateway.cli.fleet_simulate_page import page
from gateway.cli.fleet_simulate_view import MOST_BELLS, Told, as_json, bells_table, lines
from gateway.domain.fleet_simulation import SimulatedWeek
from gateway.wiring.fleet_simulation import Simulation, read_ical, simulated
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.pool_rules import PoolRules
from sessions.domain.class_rows import RowDefaults

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard fleet simulate --example week\n\n"
    "  drillyard fleet simulate --calendar term.csv --trainees 30 --seats 8 --maximum 6 --html term.html\n\n"
    "  drillyard fleet simulate --calendar term.ics --cold-start 120-400 --failures 0.2 --lead 15\n\n"
    "  drillyard fleet simulate --pool Qwen/Qwen2.5-7B-Instruct --price 1.10 --json -\n\n"
    "The controller is the real one; host, routers, warm-ups and trainees are figures in a time of their own, so that "
    "nothing of it says how fast an engine is. Without --calendar and --example the classes of a running "
    "service in the coming week are played, with the figures of its pool where no others are given. Leaves with 1 when "
    "a bell was missed. Without --price it is that of DRILLYARD_FLEET__PRICE_PER_GPU_HOUR, if that is set."
)
WEEK_H = 168
_RANGE = re.compile(r"(\d{1,5}(?:\.\d+)?)-(\d{1,5}(?:\.\d+)?)", re.ASCII)


def simulate(  # noqa: PLR0913 - one argument for each option of the command line
    *,
    calendar: options.Calendar = None,
    example: options.OfExample = None,
    model: options.Model = None,
    days: options.Days = 14,
    trainees: options.Trainees = 30,
    timezone: options.Timezone = None,
    seats: options.Seats = None,
    maximum: options.Maximum = None,
    minimum: options.Minimum = None,
    reserve: options.Reserve = None,
    lead: options.LeadMinutes = None,
    at_once: options.AtOnce = 4,
    cold_start: options.ColdStart = "60-180",
    failures: options.Failures = 0.1,
    kills: options.Kills = 0.05,
    blackouts: options.Blackouts = 0.01,
    abandoned: options.Abandoned = 0.0,
    seed: options.Seed = 1,
    tick: options.Tick = 20.0,
    price: options.Price = None,
    gpus: options.Gpus = 1,
    json_file: options.JsonFile = None,
    html_file: options.HtmlFile = None,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Play a calendar of classes at speed: replicas over time, readiness at each bell, idle GPU-hours and cost."""
    if calendar is not None and example is not None:
        raise CommandFailed("--calendar and --example are two sources of classes", advice="give one of them")
    starts = _cold_starts(cold_start, failures)
    if example is not None:
        classes = of_example(seed)
    elif calendar is not None:
        defaults = RowDefaults(scenario="simulated", trainees=trainees, timezone=timezone, minutes=60)
        classes = of_file(calendar, defaults, read_ical)
    else:
        classes = of_service(asyncio.run(_asked(base_url, key, data)), model)
    classes = classes.within(days)
    rules = _rules(
        classes.pool, seats=seats, maximum=maximum, minimum=minimum, reserve=reserve, lead=lead, at_once=at_once
    )
    simulation = Simulation(
        bookings=classes.bookings,
        rules=rules,
        starts=starts,
        seed=seed,
        tick_s=tick,
        death_rate=kills,
        blackout_rate=blackouts,
        abandon_rate=abandoned,
    )
    told = Told(classes.source, rules, _played(simulation), gpus, price)
    _tell(told, classes, json_file, html_file)
    if told.week.missed:
        raise typer.Exit(1)


def _played(simulation: Simulation) -> SimulatedWeek:
    with _progress() as progress:
        return asyncio.run(simulated(simulation, progress=progress))


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """On a terminal only, and never among the results."""
    screen = Console(stderr=True)
    columns = (TextColumn("playing"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as shown:
        task = shown.add_task("playing", total=1.0)
        yield lambda share: shown.update(task, completed=share)


def _tell(told: Told, classes: Classes, json_file: Path | None, html_file: Path | None) -> None:
    whole = json.dumps(as_json(told, classes.notes), indent=2, ensure_ascii=False)
    if html_file is not None:
        _write(html_file, page(told, classes.notes))
    if json_file is not None and str(json_file) == "-":
        typer.echo(whole)
        return
    if json_file is not None:
        _write(json_file, whole + "\n")
    screen = console()
    for note in classes.notes:
        screen.print(f"note: {note}", markup=False, soft_wrap=True)
    for line in lines(told, screen.width):
        screen.print(line, markup=False, soft_wrap=True)
    if told.week.missed or len(told.week.bells) <= MOST_BELLS:
        screen.print(bells_table(told.week.bells), markup=False)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}") from error


def _cold_starts(written: str, failures: float) -> ColdStarts:
    read = _RANGE.fullmatch(written.strip())
    if read is None:
        raise CommandFailed(f"--cold-start {written!r} is no range of seconds", advice="write it as 60-180")
    try:
        return ColdStarts(fastest_s=float(read[1]), slowest_s=float(read[2]), failure_rate=failures)
    except ValueError as error:
        raise CommandFailed(f"--cold-start {written!r}: {error}") from error


def _rules(  # noqa: PLR0913 - one argument for each option of the command line
    pool: PlannedPoolView | None,
    *,
    seats: int | None,
    maximum: int | None,
    minimum: int | None,
    reserve: int | None,
    lead: float | None,
    at_once: int,
) -> PoolRules:
    """What is given, else what the service's pool has, else what the help says."""
    try:
        theirs = PoolRules(seats_per_replica=8, maximum=40)
        if pool is not None:
            theirs = PoolRules(
                seats_per_replica=pool.seats_per_replica,
                maximum=pool.maximum,
                minimum=pool.minimum,
                reserve=pool.reserve,
            )
        return PoolRules(
            seats_per_replica=theirs.seats_per_replica if seats is None else seats,
            maximum=theirs.maximum if maximum is None else maximum,
            minimum=theirs.minimum if minimum is None else minimum,
            reserve=theirs.reserve if reserve is None else reserve,
            lead_s=theirs.lead_s if lead is None else lead * 60.0,
            starts_at_once=at_once,
        )
    except ValueError as error:
        raise CommandFailed(str(error)) from error


async def _asked(base_url: str | None, key: str | None, data: Path) -> FleetPlanView:
    async with operator_client(operator_connection(base_url=base_url, key=key, data=data)) as client:
        return await client.read("/v1/fleet/plan", FleetPlanView, hours=str(WEEK_H))
