"""`drillyard serve`: one process that serves the API, with the Redis, Postgres and replicas of the settings."""

import asyncio
import gc
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

import structlog
import uvicorn
import uvloop
from pydantic import ValidationError
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from gateway.api.app import build_app
from gateway.cli.bounded_http import BoundedHttp
from gateway.cli.failure import CommandFailed
from gateway.errors import FleetUnfit
from gateway.log_setup import set_up
from gateway.services import Services
from gateway.settings import Settings, load, reasons
from gateway.wiring import services
from sessions.errors import TokenizerUnusable

EXAMPLES = (
    "Settings are environment variables, for example:\n\n"
    "  DRILLYARD_REDIS_URL=redis://127.0.0.1:6379 DRILLYARD_DATABASE_URL=postgresql://user@127.0.0.1/drillyard "
    "DRILLYARD_MODEL__NAME=smollm2 DRILLYARD_MODEL__FOLDER=/models/smollm2 "
    'DRILLYARD_REPLICAS=\'[{"id": "replica-1", "url": "http://127.0.0.1:8000"}]\' drillyard serve'
)
_BACKLOG = 2048
_AFTER_GRACE_S = 5

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def serve() -> None:
    """Serve the API until SIGINT or SIGTERM: running turns then have the grace to end, and nothing new is taken."""
    try:
        settings = load()
    except ValidationError as error:
        raise CommandFailed("the settings cannot work: " + "; ".join(reasons(error))) from error
    set_up(level=settings.log_level, layout=settings.log_format)
    try:
        uvloop.run(_serve(settings))
    except (FleetUnfit, TokenizerUnusable) as error:
        raise CommandFailed(
            str(error), advice="DRILLYARD_MODEL__* and the replicas must name the same model"
        ) from error


async def _serve(settings: Settings) -> None:
    stopping = asyncio.Event()
    with _listening(settings.host, settings.port) as listener:
        async with services(settings, stopping=stopping) as running:
            server = _Server(_configuration(settings, running), stopping)
            # What is here now stays for good; the collector need not look at it again and again.
            gc.collect()
            gc.freeze()
            _log.info("serving", host=settings.host, port=listener.getsockname()[1])
            await server.serve(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandFailed(f"cannot listen on {host} port {port}: {reason}", advice="set DRILLYARD_PORT") from error


def _configuration(settings: Settings, running: Services) -> uvicorn.Config:
    @asynccontextmanager
    async def already_running() -> AsyncIterator[Services]:
        yield running

    return uvicorn.Config(
        build_app(already_running),
        http=BoundedHttp,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=round(settings.shutdown_grace_s) + _AFTER_GRACE_S,
    )


class _Server(uvicorn.Server):
    """Tells the turns of the signal at once, since they decide how soon the connections that read them end."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The original raises the signal once more when serving ends, which would end the process before the turns,
        # the leases and the connections to the stores are closed.
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._stopping.set()
        super().handle_exit(sig, frame)
