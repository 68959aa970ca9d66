"""`drillyard serve`: one process that serves the API, with the Redis, Postgres and replicas of the settings."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
import uvicorn
import uvloop
from pydantic import ValidationError
from pydantic_settings import SettingsError
from structlog.typing import FilteringBoundLogger

from gateway.api.app import build_app
from gateway.cli.bounded_http import within
from gateway.cli.failure import CommandFailed
from gateway.cli.serving import StoppableServer, allow_many_files, listening
from gateway.cli.tls import Certificates, certificates, renewing
from gateway.errors import FleetUnfit
from gateway.log_setup import set_up
from gateway.readiness import tell_until_ready
from gateway.services import Services
from gateway.settings import Settings, load, reasons
from gateway.wiring.background import background
from gateway.wiring.services import services
from sessions.errors import TokenizerUnusable

EXAMPLES = (
    "Settings are environment variables, for example:\n\n"
    "  export DRILLYARD_REDIS_URL=redis://127.0.0.1:6379\n"
    "  export DRILLYARD_DATABASE_URL=postgresql://user@127.0.0.1/drillyard\n"
    "  export DRILLYARD_MODEL__NAME=smollm2 DRILLYARD_MODEL__FOLDER=/models/smollm2\n"
    '  export DRILLYARD_REPLICAS=\'[{"id": "a", "url": "http://127.0.0.1:8000"}]\'\n'
    "  drillyard serve"
)
_AFTER_GRACE_S = 5

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def serve() -> None:
    """Serve the API until SIGINT or SIGTERM: running turns then have the grace to end, and nothing new is taken."""
    try:
        settings = load()
    except (ValidationError, SettingsError) as error:
        raise CommandFailed("the settings cannot work: " + "; ".join(reasons(error))) from error
    set_up(level=settings.log_level, layout=settings.log_format)
    try:
        uvloop.run(_serve(settings))
    except (FleetUnfit, TokenizerUnusable) as error:
        raise CommandFailed(
            str(error), advice="DRILLYARD_MODEL__* and the replicas must name the same model"
        ) from error


async def _serve(settings: Settings) -> None:
    leaving, stopping, tls = asyncio.Event(), asyncio.Event(), certificates(settings.tls)
    allow_many_files()
    with listening(settings.host, settings.port, advice="set DRILLYARD_PORT") as listener:
        async with (
            services(settings, stopping=stopping, leaving=leaving) as running,
            renewing(tls, every_s=settings.tls.reload_s),
        ):
            server = StoppableServer(
                _configuration(settings, running, tls),
                stopping,
                handshake_s=settings.edge.handshake_s,
                leaving=leaving,
                pause_s=settings.shutdown_pause_s,
            )
            # What is here now stays for good; the collector need not look at it again and again.
            gc.collect()
            gc.freeze()
            scheme = "http" if tls is None else "https"
            _log.info("serving", scheme=scheme, host=settings.host, port=listener.getsockname()[1])
            async with background(tell_until_ready(running.readiness)):
                await server.serve(sockets=[listener])


def _configuration(settings: Settings, running: Services, tls: Certificates | None) -> uvicorn.Config:
    @asynccontextmanager
    async def already_running() -> AsyncIterator[Services]:
        yield running

    return uvicorn.Config(
        build_app(already_running),
        http=within(settings.edge),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=settings.edge.keep_alive_s,
        ssl_context_factory=None if tls is None else lambda _configuration, _default: tls.context,
        timeout_graceful_shutdown=round(settings.shutdown_grace_s) + _AFTER_GRACE_S,
    )
