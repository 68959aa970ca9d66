"""`drillyard fleet run`: one process that looks after the replicas."""

import asyncio
import json
import time
from typing import Annotated

import structlog
import typer
import uvicorn
import uvloop
from pydantic import ValidationError
from pydantic_settings import SettingsError
from structlog.typing import FilteringBoundLogger

from gateway.cli.drill_view import console
from gateway.cli.failure import CommandFailed
from gateway.cli.fleet_run_pages import FleetPages
from gateway.cli.fleet_run_view import as_facts, deeds_table, headline
from gateway.cli.serving import StoppableServer, listening
from gateway.errors import FleetUnfit
from gateway.fleet_figures import FleetFigures
from gateway.fleet_log import FleetLog
from gateway.log_setup import set_up
from gateway.settings import Settings, load, reasons
from gateway.wiring.background import background
from gateway.wiring.fleet_control import fleet_control
from router.fleet.keeping import PoolReport

EXAMPLES = (
    "Settings are environment variables, those of `drillyard serve`, and the pools:\n\n"
    "  DRILLYARD_POOLS_FILE=pools.yml drillyard fleet run\n\n"
    "  drillyard fleet run --once --json\n\n"
    "A pool in the file:\n\n"
    "  pools: [{model: smollm2, seats_per_replica: 8, maximum: 4, host: {kind: processes, ...}}]\n\n"
    "Run two of them and one leads; the other takes over within seconds. Ending it leaves the replicas as they are. "
    "With --once warm-ups, which go on beside the rounds, come to no end: it is for looking, and for a dry run."
)
_GRACE_S = 5

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def run(
    *,
    once: Annotated[bool, typer.Option("--once", help="Take one round, print what was done, and leave.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --once: print it as JSON.")] = False,
) -> None:
    """Have replicas there before the class is: start, warm up, drain and stop them by the calendar, until SIGTERM.

    With --once it leaves with 1 where something could not be read or done, or another process leads.
    """
    try:
        settings = load()
    except (ValidationError, SettingsError) as error:
        raise CommandFailed("the settings cannot work: " + "; ".join(reasons(error))) from error
    _check_pools(settings)
    set_up(level=settings.log_level, layout=settings.log_format)
    try:
        if once:
            _print(uvloop.run(_one_round(settings)), as_json=as_json)
        else:
            uvloop.run(_run(settings))
    except FleetUnfit as error:
        raise CommandFailed(str(error), advice="see the pool's host in DRILLYARD_POOLS_FILE") from error


def _check_pools(settings: Settings) -> None:
    pools = settings.fleet.pools
    if not pools:
        raise CommandFailed(
            "no pool is set", advice="name a file in DRILLYARD_POOLS_FILE, or pools in DRILLYARD_FLEET__POOLS"
        )
    if all(pool.host is None for pool in pools):
        raise CommandFailed(
            f"no pool has a host ({', '.join(pool.model for pool in pools)}), so there is nothing to look after",
            advice="give them one: kind processes, compose or kubernetes",
        )


async def _run(settings: Settings) -> None:
    stopping, log, figures = asyncio.Event(), FleetLog(), FleetFigures()
    pages = FleetPages(metrics=figures.text, instance=settings.instance)

    def told(report: PoolReport) -> None:
        log.told(report)
        figures.told(report)
        pages.told(report)

    port, advice = settings.fleet.metrics_port, "set DRILLYARD_FLEET__METRICS_PORT"
    _tell_unused(settings)
    with listening(settings.host, port, advice=advice) as listener:
        async with fleet_control(settings, told) as control:
            _log.info(
                "looking after the fleet",
                pools=[pool.model for pool in settings.fleet.pools if pool.host is not None],
                host=settings.host,
                port=listener.getsockname()[1],
            )
            async with background(control.run(interval_s=settings.fleet.interval_s)):
                await StoppableServer(_configuration(pages), stopping).serve(sockets=[listener])
    _log.info("no longer looking after the fleet; replicas stay as they are")


def _tell_unused(settings: Settings) -> None:
    served = [model.name for model in settings.all_models]
    for pool in settings.fleet.pools:
        if pool.model not in served:
            _log.warning("no class uses this pool, since its model is none of those that are served", pool=pool.model)


def _configuration(pages: FleetPages) -> uvicorn.Config:
    return uvicorn.Config(
        pages,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )


async def _one_round(settings: Settings) -> tuple[PoolReport, ...]:
    log = FleetLog()
    async with fleet_control(settings, log.told, settled_after_s=0.0) as control:
        return await control.take_round(time.time())


def _print(reports: tuple[PoolReport, ...], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([as_facts(report) for report in reports], ensure_ascii=False))
    else:
        for report in reports:
            console().print(headline(report), markup=False, soft_wrap=True)
            if report.deeds:
                console().print(deeds_table(report), markup=False)
    if any(report.troubles or not report.leads or any(deed.trouble for deed in report.deeds) for report in reports):
        raise typer.Exit(1)
