"""`drillyard worker`: one process that only answers the questions of jobs."""

import asyncio
import signal

import structlog
import uvloop
from pydantic import ValidationError
from pydantic_settings import SettingsError
from structlog.typing import FilteringBoundLogger

from gateway.cli.failure import CommandFailed
from gateway.errors import FleetUnfit
from gateway.log_setup import set_up
from gateway.settings import Settings, load, reasons
from gateway.wiring.worker import worker as working
from sessions.errors import TokenizerUnusable

EXAMPLES = (
    "Settings are environment variables, those of `drillyard serve`, for example:\n\n"
    "  DRILLYARD_JOBS__WORKERS=4 drillyard worker\n\n"
    "Every `drillyard serve` answers jobs too; DRILLYARD_JOBS__WORKERS=0 there leaves them all to workers like this."
)

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def worker() -> None:
    """Answer the questions of jobs until SIGINT or SIGTERM; what is under way then is given back."""
    try:
        settings = load()
    except (ValidationError, SettingsError) as error:
        raise CommandFailed("the settings cannot work: " + "; ".join(reasons(error))) from error
    if not settings.jobs.workers:
        raise CommandFailed("DRILLYARD_JOBS__WORKERS is 0", advice="set it to the number of answers at once")
    set_up(level=settings.log_level, layout=settings.log_format)
    try:
        uvloop.run(_work(settings))
    except (FleetUnfit, TokenizerUnusable) as error:
        raise CommandFailed(
            str(error), advice="DRILLYARD_MODEL__* and the replicas must name the same model"
        ) from error


async def _work(settings: Settings) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    async with working(settings):
        _log.info("working on jobs", at_once=settings.jobs.workers)
        await stopping.wait()
