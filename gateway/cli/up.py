"""`drillyard up`: the whole service on this machine, started, watched and stopped by one command."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gateway.cli.connection import DEFAULT_DATA
from gateway.cli.failure import INTERRUPTED, CommandFailed
from gateway.cli.try_it import try_it
from gateway.local.calendar_pool import ByCalendar
from gateway.local.errors import LocalStackError
from gateway.local.places import Places
from gateway.local.preparation import Options, ReplicaKind
from gateway.local.progress import Progress
from gateway.local.ready_file import Ready
from gateway.local.run_stack import Run, run_stack
from gateway.local.sim_replica import Tuning

EXAMPLES = (
    "Examples:\n\n  drillyard up --replicas 2 --data ./.drillyard --ready-file /tmp/ready.json\n\n"
    "  drillyard up --replica-kind sim --replicas 6 --speed-up 20\n\n"
    "  drillyard up --by-calendar --replicas 4 --seats 8 --lead 10"
)
Calendar = Annotated[
    bool, typer.Option("--by-calendar", help="Start replicas before each class, and stop them after it.")
]
Seats = Annotated[int, typer.Option(min=1, max=1000, help="With --by-calendar: sessions that one replica holds.")]
Lead = Annotated[
    float,
    typer.Option(min=0, max=1440, metavar="MINUTES", help="With --by-calendar: how long before a bell, at least."),
]


def up(  # noqa: PLR0913  one parameter per option is how typer declares them
    *,
    replica_kind: Annotated[
        ReplicaKind,
        typer.Option(
            help="vllm starts replicas here, sim simulated ones; none uses those in DRILLYARD_REPLICAS, if it is set."
        ),
    ] = ReplicaKind.VLLM,
    replicas: Annotated[
        int, typer.Option(min=1, max=64, help="How many replicas to start; with --by-calendar so many at most.")
    ] = 2,
    by_calendar: Calendar = False,
    seats: Seats = 8,
    lead: Lead = 30.0,
    model: Annotated[
        Path | None, typer.Option(help="A model folder (Hugging Face layout) instead of the bundled small model.")
    ] = None,
    data: Annotated[Path, typer.Option(help="Where data, logs and run files are kept.")] = DEFAULT_DATA,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the gateway; 0 takes any free one.", show_default="8080 or free"),
    ] = None,
    host: Annotated[str, typer.Option(help="Address the gateway listens on.")] = "127.0.0.1",
    ready_file: Annotated[
        Path | None, typer.Option(help="Receives addresses and keys as JSON once everything is ready.")
    ] = None,
    window: Annotated[int, typer.Option(min=512, help="The model's context window in tokens.")] = 4096,
    vllm_env: Annotated[
        Path | None, typer.Option(help="An existing environment with vLLM, instead of installing one.")
    ] = None,
    profile: Annotated[
        str, typer.Option(help="Of simulated replicas: how fast and large they are; see `drillyard sim profiles`.")
    ] = "cpu-smollm2",
    speed_up: Annotated[
        float, typer.Option(min=0.1, max=1000, help="Of simulated replicas: how much faster their time passes.")
    ] = 1.0,
) -> None:
    """Start everything on this machine: Redis, Postgres, vLLM replicas and the gateway, with sample data.

    Ctrl-C stops all of it; the data stays for the next time.
    """
    options = Options(
        replica_kind=replica_kind,
        replicas=replicas,
        model=model,
        vllm_env=vllm_env,
        window_tokens=window,
        host=host,
        port=port,
        tuning=Tuning(profile=profile, speed_up=speed_up),
        by_calendar=ByCalendar(seats=seats, lead_s=60 * lead) if by_calendar else None,
    )
    console = Console()
    if not _run(options, data=data, ready_file=ready_file, console=console):
        raise typer.Exit(INTERRUPTED)


def _run(options: Options, *, data: Path, ready_file: Path | None, console: Console) -> bool:
    from gateway.local.sample import seed  # noqa: PLC0415  it loads the database layer, which --help does not need

    run = Run(
        options=options,
        data=data,
        ready_file=ready_file,
        seed=partial(seed, keys_file=Places(data.absolute()).keys),
        caller=dict(os.environ),
        progress=Progress(console=console),
        announce=lambda ready: _announce(ready, data, console, by_calendar=options.by_calendar is not None),
    )
    try:
        return run_stack(run)
    except LocalStackError as error:
        where = f"log: {error.log}" if error.log is not None else ""
        advice = "; ".join(part for part in (error.hint, where) if part)
        raise CommandFailed(error.message, advice=advice or None) from error


def _announce(ready: Ready, data: Path, console: Console, *, by_calendar: bool) -> None:
    keys = ready.seed.keys
    rows = {
        "address": ready.base_url,
        "logs": str(ready.log_dir),
        "tenant": ready.seed.tenant,
        "trainee key": keys.trainees[0] if keys.trainees else "-",
        "instructor key": keys.instructor,
        "operator key": keys.operator,
    }
    lines = ["", "Drillyard is ready.", "", *(f"  {name:<15} {value}" for name, value in rows.items())]
    if ready.replicas or by_calendar:  # without any there is nobody to talk to
        commands = (f"  {command}" for command in try_it(data, by_calendar=by_calendar))
        lines += ["", "No replica runs before a class needs it."] if by_calendar else []
        lines += ["", "Try it in another terminal, from this folder:", *commands]
    lines += ["", "Ctrl-C stops everything; the data stays.", ""]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
